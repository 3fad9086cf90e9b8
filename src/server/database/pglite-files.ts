import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getMessage, UnavailableError } from '../../lib/errors.ts';

/**
 * Makes the files of an embedded database where there are none. That takes several engines, 400 MB more than
 * using one: so a process of its own makes them, in a folder of its own, which takes its place when it is whole.
 *
 * A process that was killed here may leave the other one running for some seconds. So each makes its files in a
 * folder that no other uses; what was left is removed.
 *
 * @default make by a process (pglite-create.ts)
 */
export async function createPgliteFiles(dataDir: string, make = runProgram): Promise<void> {
  const parent = dirname(dataDir);
  const prefix = `.${basename(dataDir)}.new`;
  await removeDrafts(parent, prefix);
  if (existsSync(join(dataDir, 'PG_VERSION'))) return;
  const draft = join(parent, `${prefix}-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(parent, { recursive: true });
    await make(draft);
    await rename(draft, dataDir); // takes the place of an empty folder as well
  } catch (cause) {
    throw new UnavailableError(
      `The embedded database in ${dataDir} could not be made: ${getMessage(cause)}`,
      'backoff',
      cause,
    );
  }
}

async function runProgram(draft: string): Promise<void> {
  const program = fileURLToPath(new URL('./pglite-create.js', import.meta.url));
  await promisify(execFile)(process.execPath, [program, draft]);
}

/** One that is still written to may stay until the next start. */
async function removeDrafts(parent: string, prefix: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const drafts = names.filter((name) => name.startsWith(prefix));
  await Promise.allSettled(drafts.map((name) => rm(join(parent, name), { recursive: true, force: true })));
}
