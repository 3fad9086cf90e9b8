import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { FrameWriter } from '../../src/state/frames.ts';
import { hashBytes } from '../../src/state/hash-bytes.ts';
import { decodeFrames } from '../../src/state/part-records.ts';
import { importing, line, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { findPartsFolder } from '../support/parts-folder.ts';

/** Migrations that are stopped within a part, of which Redis has a checkpoint. */
let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const RECORDS = 6;

/** Stops after the first requests: the rest of the only part is not sent. Returns the folder of the migration. */
async function stopWithin(name: string): Promise<string> {
  const loaded = await lab.writeManifest(name, { limits: { requestsInFlight: 1, batch: { events: 1 } } });
  const lines = Array.from({ length: RECORDS - 1 }, (_, number) => line(`${name}-${number}`));
  lab.writeFile(name, 'a.json', [line(`${name}-bad`, 'never'), ...lines]);
  const before = lab.destination.events().size;
  lab.destination.overrule(() =>
    lab.destination.events().size - before < 2 ? undefined : { status: 401, body: '{}' },
  );
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
    kind: 'held',
    state: 'paused',
  });
  lab.destination.overrule(undefined);
  return join(lab.workplace.dataDir('here'), 'staging', name);
}

const listFiles = (folder: string, end: string) =>
  readdirSync(folder, { recursive: true })
    .map((path) => join(folder, String(path)))
    .filter((path) => path.endsWith(end));

async function expectAllSent(name: string): Promise<void> {
  expect(await resumeMigration(lab.runtime, name, importing())).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: RECORDS, delivered: RECORDS - 1, rejected: 1 } },
  });
  const sent = [...lab.destination.events().values()].map(({ distinctId }) => distinctId);
  expect(sent.filter((id) => id.startsWith(`user-${name}-`)).sort()).toEqual(
    Array.from({ length: RECORDS - 1 }, (_, number) => `user-${name}-${number}`),
  );
}

it('a part that was restored with its records in another order starts over (I1)', async () => {
  const parts = findPartsFolder(await stopWithin('restored'));
  const [path = ''] = listFiles(parts, '.json');
  const [body = ''] = listFiles(parts, '.frames');
  const description = JSON.parse(readFileSync(path, 'utf8'));
  const records = decodeFrames(readFileSync(body));
  const frames = new FrameWriter(undefined);
  for (let record = RECORDS - 1; record >= 0; record -= 1) frames.add(records.get(record));
  const reversed = frames.take();
  const sha256 = hashBytes(reversed);
  writeFileSync(body.replace(description.sha256.slice(0, 16), sha256.slice(0, 16)), reversed);
  writeFileSync(path, JSON.stringify({ ...description, sha256 }));
  await expectAllSent('restored');
});

it('a part whose checkpoint names rejects that are gone starts over, and keeps them again', async () => {
  const folder = await stopWithin('bereft');
  for (const path of listFiles(join(folder, 'rejects'), '.gz')) rmSync(path);
  await expectAllSent('bereft');
});
