import { ConfigError, getMessage, UnavailableError } from '../../lib/errors.ts';
import { explainOpenFiles } from '../../lib/open-files.ts';

/**
 * Turns an error of the file system into the class that names who must act: the operator (space, rights), or
 * nobody but a retry. Other errors are returned as they are.
 */
export function toFolderError(error: unknown, location: string, doing: string): unknown {
  const why = getMessage(error);
  switch (getErrorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new ConfigError(
        `${location} is full (could not ${doing}): free some space, or move the folder to a larger disk and correct BACKHAUL_DATA_DIR or BACKHAUL_STAGING; nothing is lost`,
        error,
      );
    case 'EFBIG':
      return new ConfigError(
        `${location} takes no files of this size (could not ${doing}): raise the limit of this user (ulimit -f) or use another file system; nothing is lost`,
        error,
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ConfigError(
        `${location} is not accessible (could not ${doing}: ${why}): give this user the right to read and write there, or set BACKHAUL_DATA_DIR to a folder of its own`,
        error,
      );
    case 'EEXIST':
    case 'ENOTDIR':
      return new ConfigError(
        `${location} has a file where a folder belongs (could not ${doing}: ${why}): move that file away, or set BACKHAUL_DATA_DIR to a folder of its own`,
        error,
      );
    case 'EIO':
    case 'ESTALE':
    case 'ETIMEDOUT':
      return new UnavailableError(
        `${location} does not respond (could not ${doing}: ${why})`,
        'backoff',
        error,
      );
    default: {
      // Those that are open now are closed soon.
      const noFiles = explainOpenFiles(error);
      return noFiles === undefined
        ? error
        : new UnavailableError(`${location}: could not ${doing}, ${noFiles}`, 'backoff', error);
    }
  }
}

export const getErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
