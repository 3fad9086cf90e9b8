import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError, getMessage } from '../lib/errors.ts';

/** Undefined without the option `--html`. A page replaces an earlier one, but never a file of another kind. */
export function parsePagePath(path: string | undefined, example: string): string | undefined {
  if (path === undefined) return undefined;
  if (/\.html?$/i.test(path)) return resolve(path);
  throw new ConfigError(`--html takes the path of a page to write, such as ${example}, not "${path}"`);
}

/** Only for its owner, as a page may show what records say. `of`: what it is the page of. */
export async function writePage(path: string, of: string, page: string): Promise<void> {
  try {
    await writeFile(path, page, { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`The page of ${of} cannot be written: ${getMessage(error)}`, error);
  }
}
