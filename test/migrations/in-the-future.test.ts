import { afterAll, beforeAll, expect, it } from 'vitest';
import { planMigration } from '../../src/migrations/plan.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { createPlanContext } from '../../src/runtime/open-store.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { encodeDocument } from '../../src/state/document.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, line, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';

const HOUR_MS = 3_600_000;
const BEGUN = new Date();
const inHours = (hours: number) => new Date(BEGUN.getTime() + hours * HOUR_MS);

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

/** The runtime as it would be at another time. */
const at = (hours: number): Runtime => ({ ...lab.runtime, now: () => inHours(hours) });

/** One record of long ago, one of now, one within what is allowed, and one of the day after. */
async function write(name: string) {
  const loaded = await lab.writeManifest(name, { rejects: { failAbove: '100%' } });
  lab.writeFile(name, 'a.json', [
    line(`${name}-1`),
    line(`${name}-2`, inHours(0).toISOString()),
    line(`${name}-3`, inHours(21).toISOString()),
    line(`${name}-4`, inHours(23).toISOString()),
  ]);
  return loaded;
}

const arrived = (name: string) =>
  [...lab.destination.events().values()]
    .filter(({ properties }) => properties['$import_job_id'] === name)
    .map(({ properties }) => String(properties['n']))
    .toSorted();

const SENT = { counts: { read: 4, delivered: 3, rejected: 1 }, byReason: { in_the_future: 1 } };

it('is planned, rejected when the migration begins, and rejected still when it is continued on another day', async () => {
  const loaded = await write('ahead');
  const full = { env: lab.env, signal: new AbortController().signal };
  const planned = await planMigration(createPlanContext(lab.settings), loaded, { recordsPerFile: 100, full });
  expect(planned).toMatchObject({
    plan: { rejects: [{ reason: 'in_the_future', inSample: 1 }] },
    full: SENT,
  });

  await startMigration(at(0), loaded, stageOnly('another day'));
  expect(await resumeMigration(at(72), 'ahead', importing())).toMatchObject({
    kind: 'finished',
    report: {
      balanced: true,
      ...SENT,
      byDay: { [inHours(23).toISOString().slice(0, 10)]: { rejected: 1 } },
    },
  });
  expect(arrived('ahead')).toEqual(['ahead-1', 'ahead-2', 'ahead-3']);
});

it('is kept, and delivered by a replay once its time has passed', async () => {
  const loaded = await write('kept');
  await startMigration(at(0), loaded, importing());
  const replay = (hours: number, of: string) =>
    replayRejects(at(hours), of, { loaded, reason: 'in_the_future' }, importing());
  expect(await replay(0, 'kept')).toMatchObject({ report: { counts: { read: 1, rejected: 1 } } });
  expect(arrived('kept')).toHaveLength(3);
  expect(await replay(24, 'kept')).toMatchObject({ kind: 'nothing_to_replay', replays: [{ left: 1 }] });
  expect(await replay(24, 'kept.replay-1')).toMatchObject({ report: { counts: { read: 1, delivered: 1 } } });
  expect(arrived('kept')).toHaveLength(4);
});

it('is judged by when its own file was taken in', async () => {
  const loaded = await write('daily');
  await startMigration(at(0), loaded, importing());
  lab.writeFile('daily', 'b.json', [
    line('daily-5', inHours(40).toISOString()),
    line('daily-6', inHours(50).toISOString()),
  ]);
  expect(await startMigration(at(24), loaded, importing({ topUp: true }))).toMatchObject({
    report: {
      balanced: true,
      counts: { read: 6, delivered: 4, rejected: 2 },
      byReason: { in_the_future: 2 },
    },
  });
  expect(arrived('daily')).toContain('daily-5');
});

it('is sent by a migration that began under an earlier version, and not by its top-ups', async () => {
  const loaded = await write('earlier');
  await startMigration(at(0), loaded, stageOnly('upgraded'));
  const { staging } = lab.runtime;
  const { latest, ...record } = (await loadMigration(staging, 'earlier')) ?? expect.fail('no record');
  expect(latest).toBe(inHours(22).toISOString());
  await staging.put(layout('earlier').record, encodeDocument(record));
  expect(await resumeMigration(at(1), 'earlier', importing())).toMatchObject({
    report: { counts: { read: 4, delivered: 4, rejected: 0 } },
  });
  lab.writeFile('earlier', 'b.json', [line('earlier-5', inHours(48).toISOString())]);
  expect(await startMigration(at(2), loaded, importing({ topUp: true }))).toMatchObject({
    report: { counts: { read: 5, delivered: 4, rejected: 1 } },
  });
});
