import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startMigration } from '../../../src/migrations/start.ts';
import { createPersonsBench, getReport, type PersonsBench, runOptions } from './persons-bench.ts';

/** Whole runs of exports whose vendor says which ids are one person, into a strict destination. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

type Row = Readonly<Record<string, unknown>>;

/** `files`: of the export, in the order of their names. */
async function runExport(name: string, type: string, files: readonly (readonly Row[])[], project = name) {
  const loaded = await bench.write(name, [], {
    source: { type, from: `${name}/*.gz` },
    destination: bench.project(project),
  });
  for (const [number, rows] of files.entries()) {
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    writeFileSync(join(loaded.baseDir, name, `${number}.json.gz`), gzipSync(text));
  }
  return getReport(await startMigration(bench.runtime, loaded, runOptions));
}

const call = (type: string, id: number, fields: Row) => ({
  type,
  messageId: `m${id}`,
  timestamp: `2023-01-0${id}T10:00:00.000Z`,
  ...(type === 'track' ? { event: 'opened' } : {}),
  ...fields,
});

it.each([
  ['a', 'in order', (rows: readonly Row[]) => [rows]],
  [
    'b',
    'in files of one record, newest first',
    (rows: readonly Row[]) => [...rows].reverse().map((row) => [row]),
  ],
])('a user who was renamed is one person: %s, %s', async (of, _order, cut) => {
  const [old, now, phone, laptop] = ['old', 'new', 'phone', 'laptop'].map((id) => `${id}-${of}`);
  const rows = [
    call('track', 1, { anonymousId: phone }),
    call('track', 2, { userId: old, anonymousId: phone }),
    call('alias', 3, { previousId: old, userId: now }),
    call('identify', 4, { userId: now, anonymousId: laptop, traits: { plan: 'gold' } }),
    call('track', 5, { userId: now, anonymousId: phone }),
  ];
  const report = await runExport(`renamed-${of}`, 'segment', cut(rows));
  // Nothing is merged into the earlier id: the destination would refuse to merge it then.
  expect(bench.takeSent()).toEqual({
    merges: [`${laptop} → ${now}`, `${old} → ${now}`, `${phone} → ${now}`],
    properties: [`{"id":"${now}","$set_once":{"plan":"gold"}}`],
  });
  expect(report).toMatchObject({
    balanced: true,
    people: { pairs: 3, setAside: {}, uniques: { '2023-01': { vendor: 2, destination: 1 } } },
  });
});

it('an export of Amplitude with a file of merged ids has as many users as the vendor counts', async () => {
  const row = (id: number, amplitudeId: number, device: string, user?: string) => ({
    event_type: 'opened',
    event_time: `2023-01-0${id} 10:00:00.000000`,
    $insert_id: `i${id}`,
    amplitude_id: amplitudeId,
    device_id: device,
    ...(user === undefined ? {} : { user_id: user }),
  });
  const merged = [
    { amplitude_id: 1, merged_amplitude_id: 2, merge_event_time: '2023-01-03 10:00:00.000000' },
  ];
  const events = [row(1, 1, 'phone'), row(2, 2, 'laptop', 'ada'), row(3, 3, 'x', 'u1'), row(4, 3, 'y', 'u2')];
  const report = await runExport('verdict', 'amplitude', [events, merged]);
  expect(bench.takeSent().merges).toEqual(['laptop → ada', 'phone → ada', 'x → u1', 'y → u2']);
  expect(report).toMatchObject({
    balanced: true,
    counts: { read: 5, delivered: 4, skipped: 1 },
    byReason: { merged_ids: 1 },
    people: {
      pairs: 4,
      setAside: { several_users: 1 },
      uniques: { '2023-01': { vendor: 2, destination: 3 } },
    },
  });
});

it('an export of Amplitude that is split over migrations merges whom the whole one would', async () => {
  const row = (id: number, amplitudeId: number, device: string, user?: string) => ({
    event_type: 'opened',
    event_time: `2023-01-0${id} 10:00:00.000000`,
    $insert_id: `i${id}`,
    app: 1,
    amplitude_id: amplitudeId,
    device_id: device,
    ...(user === undefined ? {} : { user_id: user }),
  });
  const project = 'split';
  // A tablet that dora used before she logged in elsewhere, and a phone of hers.
  await runExport('split-1', 'amplitude', [[row(1, 11, 'tablet'), row(2, 11, 'mobile')]], project);
  expect(bench.takeSent().merges).toEqual([]);
  const of2023 = [row(3, 11, 'desk', 'dora'), row(4, 12, 'tablet', 'emil')];
  const report = await runExport('split-2', 'amplitude', [of2023], project);
  expect(bench.takeSent().merges).toEqual(['desk → dora', 'mobile → dora']);
  expect(report.people).toMatchObject({ setAside: { shared_device: 1 } });
});
