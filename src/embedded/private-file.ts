import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { ConfigError } from '../lib/errors.ts';
import { explainNoLinks } from '../lib/hard-links.ts';
import { makeFolderSync } from '../lib/make-folder.ts';

/** The data folder holds keys, passwords and personal data: only its owner may read it. */
export function createPrivateFolder(path: string): void {
  try {
    makeFolderSync(path, 0o700);
  } catch (error) {
    throw notWritable(path, error);
  }
}

/** A reader sees the old text or the new one, never a mix. */
export function putPrivateFile(path: string, text: string): void {
  const draft = writeDraft(path, text);
  try {
    renameSync(draft, path);
  } catch (error) {
    throw notWritable(path, error);
  }
}

/** False when the file exists already. Of concurrent callers exactly one gets true, and none sees half a file. */
export function createPrivateFile(path: string, text: string): boolean {
  const draft = writeDraft(path, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw notWritable(path, error, explainNoLinks(error));
  } finally {
    rmSync(draft, { force: true });
  }
}

export function readTextIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw notReadable(path, error);
  }
}

export function listPrivateFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    throw notReadable(path, error);
  }
}

function writeDraft(path: string, text: string): string {
  const draft = `${path}.${randomUUID()}.draft`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file); // else a crash of the machine may leave the name without its text
    } finally {
      closeSync(file);
    }
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw notWritable(path, error);
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its file system is read-only',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file is in its place',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

function notWritable(
  path: string,
  error: unknown,
  why: string | undefined = REFUSALS[getErrorCode(error) ?? ''],
): unknown {
  if (why === undefined) return error;
  return new ConfigError(
    `${path} cannot be written: ${why}. Correct that, or choose another data folder with BACKHAUL_DATA_DIR.`,
    error,
  );
}

function notReadable(path: string, error: unknown): unknown {
  const code = getErrorCode(error);
  if (code !== 'EACCES' && code !== 'EPERM') return error;
  return new ConfigError(
    `${path} cannot be read by this user: a data folder belongs to the user who began it. Run the command as that user, or choose another data folder with BACKHAUL_DATA_DIR.`,
    error,
  );
}

function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
