import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigError } from '../../src/lib/errors.ts';
import { openHashKey } from '../../src/migrations/manifest/hash-key.ts';
import { planMigration } from '../../src/migrations/plan.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { createPlanContext } from '../../src/runtime/open-store.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const record = (n: string, t: string, plan: string) =>
  JSON.stringify({ e: 'counted', u: `w-${n}`, d: `device-${n}`, t, n, plan });

const WINDOWED = {
  source: {
    type: 'jsonl',
    from: 'windowed/b.json',
    mapping: {
      event: { column: 'e' },
      distinctId: { column: 'u' },
      anonymousId: { column: 'd' },
      timestamp: { column: 't' },
      key: ['n'],
      person: { set: { columns: ['plan'] } },
    },
  },
  window: { from: '2024-01-01', until: '2024-07-01', timezone: 'Europe/Berlin' },
};

it('imports its window alone, counts the rest by file, day and name, and tells nothing of it about persons', async () => {
  lab.writeFile('windowed', 'b.json', [
    record('1', '2023-12-31T22:59:59.999Z', 'old'),
    record('2', '2023-12-31T23:00:00Z', 'first'),
    record('3', '2024-06-30T21:59:59.999Z', 'last'),
    record('4', '2024-06-30T22:00:00Z', 'live'),
  ]);
  const loaded = await lab.writeManifest('windowed', WINDOWED);
  const planned = await planMigration(createPlanContext(lab.settings), loaded, {
    recordsPerFile: 100,
    full: { env: lab.env, signal: new AbortController().signal },
  });
  if (planned.kind !== 'planned') throw new Error(planned.reason);
  expect(planned.plan.skips).toEqual([
    { reason: 'before_window', inSample: 1, estimated: 1 },
    { reason: 'after_window', inSample: 1, estimated: 1 },
  ]);
  expect(planned.plan.window).toEqual({
    from: '2023-12-31T23:00:00.000Z',
    until: '2024-06-30T22:00:00.000Z',
  });

  const before = new Set(lab.destination.events().keys());
  const finished = await startMigration(lab.runtime, loaded, importing());
  if (!('report' in finished)) throw new Error(finished.kind);
  expect(finished.report).toMatchObject({
    balanced: true,
    counts: { read: 4, delivered: 2, skipped: 2 },
    byReason: { before_window: 1, after_window: 1 },
    byFile: [{ counts: { read: 4, delivered: 2, skipped: 2 } }],
    byEvent: { counted: { read: 4, delivered: 2, skipped: 2 } },
    people: { pairs: 2, persons: 2 },
  });
  expect(finished.report.byDay['2024-06-30']).toMatchObject({ read: 2, delivered: 1, skipped: 1 });
  expect(finished.report.byDay['2023-12-31']).toMatchObject({ read: 2, delivered: 1, skipped: 1 });
  expect(planned.full).toMatchObject({ counts: finished.report.counts, byDay: finished.report.byDay });

  const sent = [...lab.destination.events()].filter(([uuid]) => !before.has(uuid)).map(([, event]) => event);
  const text = JSON.stringify(sent);
  expect(sent).toHaveLength(2 + 2 + 2); // events, merges, persons
  for (const { properties } of sent) {
    expect(properties).toMatchObject({ $import_job_id: 'windowed', analytics_source: 'jsonl' });
  }
  expect(finished.report.stamps).toEqual({ $import_job_id: 'windowed', analytics_source: 'jsonl' });
  expect(text).not.toMatch(/w-1|w-4|"old"|"live"/);
  expect(text).toMatch(/"first".*"last"|"last".*"first"/);
});

it('is pinned: a run with another window is refused and says what differs', async () => {
  const moved = { ...WINDOWED, window: { ...WINDOWED.window, until: '2024-08-01' } };
  const loaded = await lab.writeManifest('windowed', moved);
  await expect(startMigration(lab.runtime, loaded, importing())).rejects.toThrow(
    'window.until: was "2024-06-30T22:00:00.000Z", is now "2024-07-31T22:00:00.000Z"',
  );
});

it('carries no stamps where the manifest wants none, and a replay those of its migration', async () => {
  const loaded = await lab.writeManifest('plain', { stamps: { importId: false, source: 'came_from' } });
  const before = new Set(lab.destination.events().keys());
  const added = () =>
    [...lab.destination.events()].filter(([uuid]) => !before.has(uuid)).map(([, event]) => event.properties);
  await startMigration(lab.runtime, loaded, importing());
  expect(added()).toHaveLength(2);
  for (const properties of added()) {
    expect(properties).toMatchObject({ came_from: 'jsonl' });
    expect(properties).not.toHaveProperty('$import_job_id');
  }

  const stamped = await lab.writeManifest('again');
  await startMigration(lab.runtime, stamped, importing());
  const replayed = await replayRejects(lab.runtime, 'again', { loaded: stamped }, importing());
  if (!('report' in replayed)) throw new Error(replayed.kind);
  expect(replayed.report).toMatchObject({ migration: 'again.replay-1', stamps: { $import_job_id: 'again' } });
});

it('hashes personal data with one key for the whole migration, and keeps neither', async () => {
  const source = {
    ...WINDOWED.source,
    from: 'hashed/a.json',
    mapping: { ...WINDOWED.source.mapping, hash: { columns: ['u', 'd'], key: '${KEY}' } },
  };
  const runtime = (key: string) => ({ ...lab.runtime, env: { ...lab.env, KEY: key } });
  const loaded = await lab.writeManifest('hashed', { source, destination: undefined });
  expect(JSON.stringify(loaded.manifest)).not.toContain(lab.env.KEY);
  const open = (key: string, id = 'a0b1c2d3-4e5f') =>
    openHashKey(lab.runtime.staging, { name: 'hashed', id }, loaded.manifest, runtime(key).env);
  expect(await open('the first key of all')).toBe('the first key of all');
  expect(await open('the first key of all')).toBe('the first key of all');
  await expect(open('another key of some')).rejects.toThrow(
    /another key than the one that migration "hashed"/,
  );
  const kept = await lab.runtime.staging.get('hashed/hash-key-a0b1c2d3.json');
  expect(kept).toBeDefined();
  expect(String(kept)).not.toContain('the first key');
  // What a process of a removed migration leaves says nothing of the one that has its name now.
  expect(await open('another key of some', 'ffffffff-4e5f')).toBe('another key of some');

  // An earlier version named no migration.
  await lab.runtime.staging.put('hashed/hash-key.json', kept ?? Buffer.alloc(0));
  expect(await open('the first key of all', '00000000-4e5f')).toBe('the first key of all');
  await expect(open('another key of some', '00000000-4e5f')).rejects.toThrow(ConfigError);
});
