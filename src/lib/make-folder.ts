import { mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * Makes a folder and those that it is in. On a file system that is full or read-only Node.js says ENOENT of a whole path;
 * made one by one, a folder says why it cannot be made.
 */

export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await makeOneByOne(path);
  }
}

async function makeOneByOne(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (isThere(error)) return;
    if (!isMissing(error) || dirname(path) === path) throw error;
    await makeOneByOne(dirname(path));
    await mkdir(path).catch((again: unknown) => {
      if (!isThere(again)) throw again;
    });
  }
}

export function makeFolderSync(path: string, mode: number): void {
  try {
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    if (!isMissing(error)) throw error;
    makeOneByOneSync(path, mode);
  }
}

function makeOneByOneSync(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isThere(error)) return;
    if (!isMissing(error) || dirname(path) === path) throw error;
    makeOneByOneSync(dirname(path), mode);
    mkdirSync(path, { recursive: true, mode });
  }
}

const hasCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code;
const isMissing = (error: unknown) => hasCode(error, 'ENOENT');
/** Another process made it meanwhile. */
const isThere = (error: unknown) => hasCode(error, 'EEXIST');
