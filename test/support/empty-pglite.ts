import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { prepared } from './prepared.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../node_modules/@electric-sql/pglite/package.json', import.meta.url), 'utf8'),
) as { version: string };

/**
 * An embedded database without tables. Creating one costs five seconds of a processor, a copy half a
 * second; `backhaul demo` and test/server/database/pglite.test.ts create theirs as users do.
 */
export async function readEmptyPglite(): Promise<Blob> {
  return new Blob([new Uint8Array(readFileSync(await prepareEmptyPglite()))]);
}

/** The same in a folder: `database` of a data folder. Returns the folder. */
export async function copyEmptyPglite(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  // The names in the archive begin with a slash, which tar removes and reports.
  execFileSync('tar', ['-xf', await prepareEmptyPglite(), '-C', folder], { stdio: 'ignore' });
  return folder;
}

export function prepareEmptyPglite(): Promise<string> {
  return prepared(`pglite-${version}.tar`, async (path) => {
    const engine = await PGlite.create();
    const dump = await engine.dumpDataDir('none');
    writeFileSync(path, Buffer.from(await dump.arrayBuffer()));
    await engine.close();
  });
}
