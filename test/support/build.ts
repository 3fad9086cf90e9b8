import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { prepareEmptyPglite } from './empty-pglite.ts';
import { prepareDataDir } from './ready-data-dir.ts';

const ROOT = new URL('../../', import.meta.url);

/** Once a run: builds what child processes run, and makes what several files copy. */
export async function setup(): Promise<void> {
  const program = fileURLToPath(new URL('src/setup/setup.mjs', ROOT));
  const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the set-up failed:\n${stderr}`);
  await prepareEmptyPglite();
  await prepareDataDir();
}

/** URL of a compiled file, named by its path in the tree, such as `src/server/server.js`. */
export const toBuilt = (file: string): string => new URL(`dist/${file}`, ROOT).href;
