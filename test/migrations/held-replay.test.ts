import { afterAll, beforeAll, expect, it } from 'vitest';
import { findHeld, sendHeldPersons } from '../../src/migrations/persons/send-held.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const record = (n: string, t: string) =>
  JSON.stringify({ e: 'counted', u: `held-${n}`, d: `device-${n}`, t, n, plan: 'pro' });

const HELD = {
  source: {
    type: 'jsonl',
    from: 'held/*.json',
    mapping: {
      event: { column: 'e' },
      distinctId: { column: 'u' },
      anonymousId: { column: 'd' },
      timestamp: { column: 't' },
      key: ['n'],
      person: { set: { columns: ['plan'] } },
    },
  },
  persons: 'hold',
};

it('is refused before it begins where its persons could not be sent together with those of its migration', async () => {
  const loaded = await lab.writeManifest('held', HELD);
  lab.writeFile('held', 'a.json', [record('1', '2024-02-03T04:05:06Z'), record('2', 'yesterday')]);
  await startMigration(lab.runtime, loaded, importing());

  const { staging } = lab.runtime;
  const mapping = { ...HELD.source.mapping, values: { t: { yesterday: '2024-02-02T04:05:06Z' } } };
  const repaired = { ...HELD, source: { ...HELD.source, mapping } };
  const replay = async (more: object, again = false) =>
    replayRejects(
      lab.runtime,
      'held',
      { loaded: await lab.writeManifest('held', { ...repaired, ...more }), again },
      importing(),
    );
  await expect(replay({ people: { overwrite: true } })).rejects.toThrow(
    /holds its persons[\s\S]*people\.overwrite: was false, is now true[\s\S]*"backhaul persons send held"/,
  );
  expect(await loadMigration(staging, 'held.replay-1')).toBeUndefined();

  // Both steps that it names work.
  expect(await replay({})).toMatchObject({ kind: 'finished', report: { counts: { delivered: 1 } } });
  const names = ['held', 'held.replay-1'];
  const release = (await findHeld(staging, { kind: 'names', names })) ?? expect.fail('nothing is held');
  expect(await sendHeldPersons(lab.runtime, release, importing())).toMatchObject({
    report: { people: { pairs: 2, persons: 2 } },
  });
  expect(await replay({ people: { overwrite: true } }, true)).toMatchObject({ kind: 'finished' });
});
