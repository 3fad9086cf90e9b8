import { getMessage } from './errors.ts';

/** What to do where a process or its machine may open no more files; undefined for another error. */
export function explainOpenFiles(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = 'code' in each ? each.code : undefined;
    if (code !== 'EMFILE' && code !== 'ENFILE') continue;
    const limit = code === 'EMFILE' ? 'this process (ulimit -n 4096)' : 'the machine (sysctl fs.file-max)';
    return `no more files can be opened (${getMessage(each)}): raise the limit of ${limit}`;
  }
  return undefined;
}
