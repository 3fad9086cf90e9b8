import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getMessage, UnavailableError } from '../../lib/errors.ts';

/**
 * Makes the files of an embedded database where there are none. That takes several engines, 400 MB more than
 * using one: so a process of its own makes them, in a folder of its own, which takes its place when it is whole.
 */
export async function createPgliteFiles(dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, 'PG_VERSION'))) return;
  const draft = join(dirname(dataDir), `.${basename(dataDir)}.new`);
  const program = fileURLToPath(new URL('./pglite-create.js', import.meta.url));
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(dirname(dataDir), { recursive: true });
    await promisify(execFile)(process.execPath, [program, draft]);
    await rename(draft, dataDir); // takes the place of an empty folder as well
  } catch (cause) {
    throw new UnavailableError(
      `The embedded database in ${dataDir} could not be made: ${getMessage(cause)}`,
      'backoff',
      cause,
    );
  }
}
