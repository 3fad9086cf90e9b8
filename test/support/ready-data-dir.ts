import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSupervisor } from '../../src/embedded/supervisor.ts';
import { copyEmptyPglite } from './empty-pglite.ts';
import { prepared } from './prepared.ts';
import { silent } from './silent.ts';

/**
 * Fills a data folder with what its first start would make: keys, and an embedded database that is set up.
 * That takes as long as many a test; here it is a copy of one that the product made for this checkout.
 */
export async function readyDataDir(dataDir: string): Promise<string> {
  cpSync(await prepareDataDir(), dataDir, { recursive: true });
  return dataDir;
}

export function prepareDataDir(): Promise<string> {
  return prepared(`data-folder-${fingerprint()}`, makeDataDir);
}

async function makeDataDir(dataDir: string): Promise<void> {
  await copyEmptyPglite(join(dataDir, 'database'));
  const supervisor = await createSupervisor({ dataDir, want: { redis: true, api: true }, log: silent });
  await supervisor.close();
}

/** Of all that decides what such a folder holds. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('../../package.json', import.meta.url)));
  for (const folder of ['../../src/server/database/', '../../src/embedded/']) {
    const root = new URL(folder, import.meta.url).pathname;
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    for (const name of files.sort()) hash.update(name).update(readFileSync(join(root, name)));
  }
  return hash.digest('hex').slice(0, 16);
}
