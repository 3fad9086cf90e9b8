const NONE = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Why a name could not be given to a file by a link, where its file system has none; undefined for another error. A
 * link is what one of several processes gets, and with it a whole file.
 */
export function explainNoLinks(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return NONE.has(code)
    ? `its file system has no hard links, as FAT, exFAT and some network shares have none (${code})`
    : undefined;
}
