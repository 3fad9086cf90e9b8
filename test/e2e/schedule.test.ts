import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, it } from 'vitest';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { killAllBackhaul } from '../support/backhaul-process.ts';
import { expectCaughtUp } from '../support/missed-days.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type StrictDestination, startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

const KEY = 'phc_schedule';

let workplace: Workplace;
let server: TestRedis;
let destination: StrictDestination;
beforeAll(async () => {
  workplace = createWorkplace();
  server = await startRedis();
  destination = await startStrictDestination({ apiKey: KEY });
}, 300_000);
afterEach(killAllBackhaul);
afterAll(async () => {
  await destination?.stop();
  await server?.stop();
  await workplace?.remove();
});

it('workers catch up the days on which none was there, once, and the command line says so', async () => {
  const dataDir = workplace.dataDir('schedule');
  const folder = join(workplace.folder, 'daily');
  mkdirSync(folder);
  await expectCaughtUp({
    workplace,
    env: { KEY, REDIS_URL: server.url },
    dataDirOf: () => dataDir,
    staging: createFolderStaging(join(dataDir, 'staging')),
    destination,
    from: 'daily/*.json',
    write: (file, text) => writeFile(join(folder, file), text),
  });
}, 120_000);
