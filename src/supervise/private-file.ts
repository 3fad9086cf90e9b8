import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** What stands in the data folder is for its owner's eyes: keys, passwords and people's data. */
export function createPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** A reader sees the old text or the new one, whole. */
export function putPrivateFile(path: string, text: string): void {
  const draft = writeDraft(path, text);
  renameSync(draft, path);
}

/** False when the file exists already; exactly one of many callers gets true, and none sees half a file. */
export function createPrivateFile(path: string, text: string): boolean {
  const draft = writeDraft(path, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

export function readTextIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function writeDraft(path: string, text: string): string {
  const draft = `${path}.${randomUUID()}.draft`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  return draft;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
