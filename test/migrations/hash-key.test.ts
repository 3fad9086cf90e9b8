import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadManifest } from '../../config/manifest/load-manifest.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { runSchedule } from '../../src/migrations/schedule/run-schedule.ts';
import { setSchedule } from '../../src/migrations/schedule/schedules.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { openRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { loadLatestEpochNumber } from '../../src/state/epochs.ts';
import {
  importing,
  keyedSource,
  line,
  type MigrationLab,
  openMigrationLab,
  stageOnly,
} from '../support/migration-lab.ts';

const FIRST = 'the key that it was begun with';
let lab: MigrationLab;
/** A process for each: with the key of the migration, with another one, and with none. */
let own: Runtime;
let other: Runtime;
let without: Runtime;
beforeAll(async () => {
  lab = await openMigrationLab();
  const open = (more: object) =>
    openRuntime(lab.settings, { ...lab.env, ...more }, { api: false }, pino({ level: 'silent' }));
  own = await open({ HASH: FIRST });
  other = await open({ HASH: 'another key of some length' });
  without = await open({});
});
afterAll(async () => {
  for (const runtime of [own, other, without]) await runtime?.close();
  await lab?.close();
});

async function begin(name: string) {
  lab.writeFile(name, 'a.json', [line(`${name}-1`), line(`${name}-2`, 'yesterday')]);
  const source = keyedSource(name);
  const path = lab.workplace.manifest({
    name,
    source: { ...source, mapping: { ...source.mapping, hash: { columns: ['u'], key: '${HASH}' } } },
    destination: { url: lab.destination.url, apiKey: '${KEY}' },
    rejects: { failAbove: '50%' },
  });
  const loaded = await loadManifest(path, { env: { ...lab.env, HASH: FIRST } });
  expect(await startMigration(own, loaded, stageOnly('until later'))).toMatchObject({ kind: 'stopped' });
  return loaded;
}

const ANOTHER = /another key than the one that migration "[^"]+" hashes personal data with/;

it('refuses to continue with another key, or with none, and leaves the lease to who has the right one', async () => {
  const loaded = await begin('keyed');
  await expect(resumeMigration(other, 'keyed', importing())).rejects.toThrow(ANOTHER);
  await expect(resumeMigration(without, 'keyed', importing())).rejects.toThrow(/HASH/);
  await expect(startMigration(other, loaded, importing())).rejects.toThrow(ANOTHER);
  expect(await loadLatestEpochNumber(lab.runtime.staging, 'keyed')).toBe(1);
  // One that imports nothing itself was given it by mistake, too.
  await expect(resumeMigration(other, 'keyed', stageOnly('once more'))).rejects.toThrow(ANOTHER);
  expect(await resumeMigration(own, 'keyed', importing())).toMatchObject({
    kind: 'finished',
    report: { counts: { delivered: 1, rejected: 1 } },
  });
});

it('refuses another key in a replay and in the run of a schedule', async () => {
  const loaded = await begin('kept');
  await resumeMigration(own, 'kept', importing());
  await expect(replayRejects(other, 'kept', { loaded }, importing())).rejects.toThrow(ANOTHER);
  expect(await loadLatestEpochNumber(lab.runtime.staging, 'kept.replay-1')).toBe(0);

  await setSchedule(own, loaded, { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 0 });
  lab.writeFile('kept', 'b.json', [line('kept-3')]);
  const before = await loadLatestEpochNumber(lab.runtime.staging, 'kept');
  const later = { ...other, now: () => new Date(Date.now() + 3_600_000) };
  expect(await runSchedule(later, 'kept', { ...importing(), now: true })).toMatchObject({
    kind: 'ran',
    run: { outcome: 'failed', reason: expect.stringMatching(ANOTHER) },
  });
  expect(await loadLatestEpochNumber(lab.runtime.staging, 'kept')).toBe(before);
});

it('refuses another key in a replay of the rejects that a removal kept', async () => {
  const loaded = await begin('removed');
  await resumeMigration(own, 'removed', importing());
  await removeMigration(own, 'removed', {
    keepRejects: true,
    resolveLedger: (manifest) => resolveLedger(manifest, own),
  });
  await expect(replayRejects(other, 'removed', { loaded }, importing())).rejects.toThrow(ANOTHER);
});
