import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Batch, Delivery } from '../../../src/contract/delivery.ts';
import { type MapOutcome, mapped, rejected } from '../../../src/contract/outcome.ts';
import type { PartMeta } from '../../../src/contract/part.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { listRejects, readRejectLines } from '../../../src/migrations/rejects/rejects.ts';
import { buildReport } from '../../../src/migrations/report/build-report.ts';
import { loadBooks } from '../../../src/migrations/report/load-books.ts';
import type { Report } from '../../../src/migrations/report/report.ts';
import type { EpochRun } from '../../../src/migrations/run/import-phase.ts';
import { foldRepeats } from '../../../src/migrations/run/repeats-phase.ts';
import { StatusBoard } from '../../../src/migrations/run/run-status.ts';
import { importPart } from '../../../src/pipeline/import-part.ts';
import { stageSlice } from '../../../src/pipeline/stage/stage-slice.ts';
import { createEventId } from '../../../src/sources/mapping/event-id.ts';
import type { Checkpoints } from '../../../src/state/checkpoints.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { createMigration, type MigrationRecord } from '../../../src/state/migrations.ts';
import { createPartStore } from '../../../src/state/part-store.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

let folder: string;
let staging: Staging;
let layouts = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-repeats-'));
  staging = createFolderStaging(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `id`, name, user and day are the key; the value is the content, and some values cannot be sent. */
interface Row {
  readonly id: number;
  readonly name: string;
  readonly user: number;
  readonly day: number;
  readonly value: string;
}

/** A record that is several events. */
interface Several {
  readonly items: readonly Row[];
}

const UNMAPPABLE = 'unmappable';
const REFUSED = 'refused';
const HUGE = 'huge';

function mapRow(record: Readonly<Record<string, unknown>>): MapOutcome {
  const rows = 'items' in record ? (record['items'] as readonly Row[]) : [record as unknown as Row];
  if (rows.some(({ value }) => value === UNMAPPABLE))
    return rejected('no_identity', 'neither user nor device');
  return mapped(
    rows.map(({ id, name, user, day, value }) => ({
      event: name,
      uuid: createEventId(['row', String(id)]),
      timestamp: `2024-05-0${day}T10:00:00.000Z`,
      properties: { distinct_id: `user-${user}`, text: value === HUGE ? value.repeat(1_000) : value },
    })),
  );
}

const deliver = async ({ body }: Batch): Promise<Delivery[]> =>
  (JSON.parse(`[${body.toString('utf8')}]`) as { properties: { text: string } }[]).map(({ properties }) =>
    properties.text === REFUSED ? { kind: 'refused', detail: 'not this one' } : { kind: 'accepted' },
  );

const noCheckpoints: Checkpoints = {
  begin: async (part) => ({ fence: { part, epoch: 1, counter: 1 }, checkpoint: undefined }),
  save: async () => {},
  forget: async () => {},
};

/** Stages and imports each list of rows as a file of its own, in this order; `grouped`: in common parts. */
async function importFiles(
  files: readonly (readonly (Row | Several)[])[],
  grouped = false,
  checkpoints = noCheckpoints,
): Promise<MigrationRecord> {
  layouts += 1;
  const name = `m${layouts}`;
  const slices = files.map((rows, number) =>
    memorySlice(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), { name: `${number}.json` }),
  );
  const record: MigrationRecord = {
    id: name,
    name,
    identity: {},
    identitySha256: '',
    mapping: 'test@1',
    destination: 'bundled API',
    files: slices.map(({ fileId, name, bytes, modified }) => ({
      fileId,
      name,
      bytes,
      modified,
      ...(grouped ? { slice: GROUP.fileId } : {}),
    })),
    createdAt: '',
    opening: { manifest: {}, baseDir: '/' },
  };
  await createMigration(staging, record);
  const deps = {
    checkpoints,
    store: createPartStore(staging, record),
    map: mapRow,
    mapping: record.mapping,
    batch: { events: 7, bytes: 100_000, eventBytes: 2_000 },
    deliver,
    requestsInFlight: 2,
    onProgress: () => {},
  };
  const { signal } = new AbortController();
  for (const slice of grouped ? [{ ...GROUP, files: slices }] : slices) {
    const onPart = async (part: PartMeta) => void (await importPart(part, deps, signal));
    await stageSlice({ slice, staging, prefix: layout(name).prefix, onPart, signal });
  }
  return record;
}

const GROUP = {
  fileId: 'c0ffee',
  name: 'all of them',
  bytes: 1,
  modified: '',
  location: 'producer',
} as const;

const createRun = (record: MigrationRecord, over: Staging = staging): EpochRun => ({
  record,
  epoch: 1,
  begun: new Map(),
  assertVolume: async () => {},
  staging: over,
  board: new StatusBoard(() => {}, { budget: undefined, nowMs: () => 0 }),
  schedulerDeps: {
    queue: {
      add: async () => {},
      listen: () => () => {},
      state: async () => ({ kind: 'open' }),
      findHold: async () => undefined,
    },
    windowSize: 1,
    makeJobId: () => '',
    assertRunning: async () => {},
    assertNotHeld: async () => {},
    signal: new AbortController().signal,
  },
});

const report = async (record: MigrationRecord): Promise<Report> =>
  buildReport({ ...(await loadBooks(staging, record)), failures: [], isOver: true });

/** What must not depend on how records lie in files. */
async function toFigures(record: MigrationRecord) {
  const { counts, events, byDay, byEvent, byReason, problems, repeats, byFile } = await report(record);
  const rejects: string[] = [];
  const staying: string[] = [];
  for await (const { reason, text, stays } of readRejectLines(staging, record.name)) {
    (stays ? staying : rejects).push(`${reason} ${text}`);
  }
  const ofFiles = byFile.reduce((sum, file) => sum + file.counts.delivered, 0);
  return {
    counts,
    distinct: events.distinct,
    byDay,
    byEvent,
    byReason,
    problems,
    repeats,
    ofFiles,
    rejects: rejects.toSorted(),
    staying: staying.toSorted(),
    reasons: (await listRejects(createStore(), record.name)).reasons.map(
      ({ reason, count }) => `${reason} ${count}`,
    ),
  };
}

const createStore = () => ({ staging, now: () => new Date(0), askRedis: async () => undefined });

async function importAndFold(
  files: readonly (readonly (Row | Several)[])[],
  sizes?: Parameters<typeof foldRepeats>[1],
  grouped = false,
) {
  const record = await importFiles(files, grouped);
  await foldRepeats(createRun(record), sizes);
  return toFigures(record);
}

const row = (id: number, value: string, more: Partial<Row> = {}): Row => ({
  id,
  name: 'Order Completed',
  user: 1,
  day: 1,
  value,
  ...more,
});

const anyRanges = fc.record({
  rangeRows: fc.integer({ min: 1, max: 9 }),
  foldRows: fc.integer({ min: 1, max: 9 }),
});

const TIMEOUT_MS = 180_000;

describe('repeats over all parts', () => {
  it('count once, whichever file they are in, and different records of one key are rejected but for one', async () => {
    const figures = await importAndFold([
      [row(1, 'a'), row(2, 'b'), row(2, 'b'), row(3, 'x')],
      [row(1, 'a'), row(1, 'a', { name: 'Order Refunded' }), row(3, 'y')],
      [row(1, 'a', { day: 2 }), row(3, 'y'), row(3, 'z'), row(4, 'only')],
    ]);
    expect(figures).toMatchObject({
      counts: { read: 11, delivered: 6, skipped: 0, duplicate: 3, rejected: 2 },
      distinct: 6,
      ofFiles: 6,
      byReason: { repeated: 3, same_id_other_content: 2 },
      byDay: { '2024-05-02': { read: 1, delivered: 1 } },
      byEvent: { 'Order Refunded': { read: 1, delivered: 1 } },
      problems: [],
      repeats: { counted: true, partsWithout: 0 },
      reasons: ['same_id_other_content 2'],
    });
    // The destination may have kept another one of them, so all are kept for a replay.
    expect([...figures.rejects, ...figures.staying].toSorted()).toEqual(
      ['x', 'y', 'z'].map((value) => `same_id_other_content ${JSON.stringify(row(3, value))}`),
    );
  });

  it(
    'give the same figures however the records are cut: one file, reversed, two, many',
    async () => {
      const rows = fc.array(
        fc.record({
          id: fc.integer({ min: 0, max: 2 }),
          name: fc.constantFrom('Order Completed', 'Order Refunded', '__proto__', '7'),
          user: fc.integer({ min: 1, max: 2 }),
          day: fc.integer({ min: 1, max: 2 }),
          value: fc.constantFrom('a', 'b', 'c', UNMAPPABLE, REFUSED, HUGE),
        }),
        { minLength: 1, maxLength: 30 },
      );
      const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(rows, sizes, anyRanges, async (all, cuts, ranges) => {
          const expected = await importAndFold([all]);
          expect(expected.problems).toEqual([]);
          expect(expected.distinct).toBe(expected.counts.delivered);
          expect(expected.ofFiles).toBe(expected.counts.delivered);
          expect(await importAndFold([all.toReversed()], ranges)).toEqual(expected);
          const half = Math.floor(all.length / 2);
          expect(await importAndFold([all.slice(half), all.slice(0, half)])).toEqual(expected);
          const many: Row[][] = [];
          for (let at = 0, cut = 0; at < all.length; cut += 1) {
            const size = cuts[cut % cuts.length] ?? 1;
            many.push(all.slice(at, at + size));
            at += size;
          }
          expect(await importAndFold(many, ranges)).toEqual(expected);
          expect(await importAndFold(many, ranges, true)).toEqual(expected);
        }),
        { numRuns: 6 },
      );
    },
    TIMEOUT_MS,
  );

  describe('of records of several events', () => {
    const items = (...of: readonly Row[]): Several => ({ items: of });
    const name = 'Item';

    it('are found by all of their events, and collisions by any', async () => {
      const twice = items(row(1, 'a'), row(2, 'late', { name, day: 2 }), row(3, 'late', { day: 2 }));
      const files = [
        [
          twice,
          items(row(1, 'a', { name: 'other' }), row(2, 'early', { name, day: 2 })),
          row(3, 'd', { day: 2 }),
        ],
        [twice, items(row(5, 'a'), row(6, 'b')), items(row(6, 'b'), row(7, 'c'), row(7, 'd'))],
      ];
      const figures = await importAndFold(files, { rangeRows: 1 });
      expect(figures).toMatchObject({
        // One of those that collide twice and are equal, and one of each other pair. Of the record that collides with
        // itself neither item is sent.
        counts: { read: 6, delivered: 6 - figures.counts.duplicate - figures.counts.rejected, duplicate: 1 },
        distinct: 6,
        problems: [],
      });
      expect(figures.rejects).toHaveLength(figures.counts.rejected);
      expect(figures.rejects).toContain(`same_id_other_content ${JSON.stringify(files[1]?.[2])}`);
      expect(await importAndFold([files.flat()])).toMatchObject({ ...figures, staying: expect.anything() });
    });

    it(
      'give the same figures however the records are cut, and as many events as a destination keeps',
      async () => {
        const one = fc.record({
          id: fc.integer({ min: 0, max: 4 }),
          name: fc.constantFrom('Order Completed', name),
          user: fc.constant(1),
          day: fc.integer({ min: 1, max: 2 }),
          value: fc.constantFrom('a', 'b', 'c'),
        });
        const records = fc.array(
          fc.oneof(
            one,
            fc.array(one, { minLength: 2, maxLength: 3 }).map((of) => items(...of)),
          ),
          { minLength: 1, maxLength: 20 },
        );
        await fc.assert(
          fc.asyncProperty(records, anyRanges, async (all, ranges) => {
            const toKey = (of: Row) => `${of.id} ${of.name} ${of.day}`;
            const isContested = (of: Row, all: readonly Row[]) =>
              all.some((other) => toKey(other) === toKey(of) && other.value !== of.value);
            const toKeys = (each: Row | Several) =>
              'items' in each
                ? each.items.filter((of) => !isContested(of, each.items)).map(toKey)
                : [toKey(each)];
            const { staying: _, ...expected } = await importAndFold([all]);
            expect(expected.problems).toEqual([]);
            expect(expected.distinct).toBe(new Set(all.flatMap(toKeys)).size);
            expect(expected.rejects).toHaveLength(expected.counts.rejected);
            const layouts = [
              await importAndFold([all.toReversed()], ranges),
              await importAndFold(
                all.map((each) => [each]),
                ranges,
              ),
              await importAndFold(
                all.map((each) => [each]),
                ranges,
                true,
              ),
            ];
            for (const { staying: __, ...figures } of layouts) expect(figures).toEqual(expected);
          }),
          { numRuns: 12 },
        );
      },
      TIMEOUT_MS,
    );
  });

  it('are counted under the file of their record, in parts of several files too', async () => {
    const files = [
      [row(1, 'a'), row(2, 'x')],
      [row(1, 'a'), row(3, 'c')],
      [row(3, 'c'), row(2, 'y'), row(4, 'd')],
    ];
    const counts = async (grouped: boolean) => {
      const record = await importFiles(files, grouped);
      await foldRepeats(createRun(record));
      return (await report(record)).byFile
        .map(({ file, counts }) => ({ file, ...counts }))
        .toSorted((a, b) => (a.file < b.file ? -1 : 1));
    };
    const grouped = await counts(true);
    expect(grouped.map(({ read }) => read)).toEqual([2, 2, 3]);
    expect(grouped.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(4);
    expect(grouped.map(({ duplicate }) => duplicate)).toEqual([0, 1, 1]);
  });

  it('are folded in ranges that an interrupted fold does not do again', async () => {
    const files = Array.from({ length: 4 }, (_, file) =>
      Array.from({ length: 30 }, (_, n) => row(n % 20, String((n + file) % 5), { day: 1 + (n % 3) })),
    );
    const record = await importFiles(files);
    let reads = 0;
    let left = Number.POSITIVE_INFINITY;
    const counting: Staging = {
      ...staging,
      getRange: async (...args) => {
        if (left === 0) throw new Error('killed');
        left -= 1;
        reads += 1;
        return staging.getRange(...args);
      },
    };
    left = 6; // each of the three days is in all four files
    await expect(foldRepeats(createRun(record, counting), { rangeRows: 60 })).rejects.toThrow('killed');
    expect(await report(record)).toMatchObject({ repeats: { counted: false }, balanced: true });
    left = Number.POSITIVE_INFINITY;
    reads = 0;
    const result = await foldRepeats(createRun(record, counting), { rangeRows: 60 });
    expect(reads).toBe(8);
    reads = 0;
    expect(await foldRepeats(createRun(record, counting), { rangeRows: 60 })).toEqual(result);
    expect(reads).toBe(0);
    expect(await toFigures(record)).toEqual(await importAndFold([files.flat()]));
  });

  it('leave the same documents and rejects, however much of a range is folded at once', async () => {
    const files = Array.from({ length: 4 }, (_, file) =>
      Array.from({ length: 40 }, (_, n) => row(n % 20, String((n + file) % 3), { day: 1 + (n % 4) })),
    );
    const record = await importFiles(files);
    const fold = async (foldRows: number, killAfter = Number.POSITIVE_INFINITY) => {
      let left = killAfter;
      const over: Staging = {
        ...staging,
        async getRange(...args) {
          left -= 1;
          if (left < 0) throw new Error('killed');
          return staging.getRange(...args);
        },
      };
      return foldRepeats(createRun(record, over), { rangeRows: 80, foldRows });
    };
    const readAll = async () => {
      const bodies = new Map<string, string>();
      for (const prefix of [layout(record.name).repeats, layout(record.name).rejects])
        for await (const { key } of staging.list(prefix))
          bodies.set(key, String((await staging.get(key))?.toString('hex')));
      return bodies;
    };
    const whole = await fold(80);
    expect(whole.total.rejected).toBeGreaterThan(0);
    expect(whole.total.duplicate).toBeGreaterThan(0);
    const documents = await readAll();
    const startAgain = async () => {
      for (const key of documents.keys()) await staging.remove(key);
    };
    for (const rows of [40, 15, 1]) {
      await startAgain();
      expect(await fold(rows)).toEqual(whole);
      expect(await readAll()).toEqual(documents);
    }
    // As one that an earlier version began, which folded each range at once.
    await startAgain();
    await expect(fold(80, 6)).rejects.toThrow('killed');
    expect(await fold(15)).toEqual(whole);
    expect(await readAll()).toEqual(documents);
  });

  it('are counted again where what was found is damaged, or is that of another migration', async () => {
    const record = await importFiles([[row(1, 'a'), row(1, 'a')], [row(1, 'a')]]);
    const other = await importFiles([[row(1, 'a')], [row(2, 'a')]]);
    const fewer = await importFiles([[row(1, 'a')]]);
    const [found, , ofFewer] = await Promise.all(
      [record, other, fewer].map((each) => foldRepeats(createRun(each))),
    );
    const { repeats } = layout(record.name);
    const list = async (prefix: string) => {
      const keys: string[] = [];
      for await (const { key } of staging.list(prefix)) keys.push(key);
      return keys;
    };
    const keys = await list(repeats);
    const foreignKeys = await list(layout(other.name).repeats);
    const text = async (key = '') => String(await staging.get(key));
    for (const [damaged, result] of [
      ['{"rows":', '{"rows":'],
      await Promise.all([text(foreignKeys[0]), text(foreignKeys[1])]),
      [JSON.stringify(found), JSON.stringify(ofFewer)], // as they were written before they had keys
    ] as const) {
      const [range = '', whole = ''] = keys;
      await staging.put(range, Buffer.from(damaged));
      await staging.put(whole, Buffer.from(result));
      await expect(report(record)).rejects.toThrow(
        /result\.json is not .* or resume "\w+", which counts repeats/,
      );
      expect(await foldRepeats(createRun(record))).toEqual(found);
      expect((await report(record)).counts).toMatchObject({ delivered: 1, duplicate: 2 });
    }
  });

  it('are found again with their rejects, where these are gone beside a damaged result', async () => {
    const record = await importFiles([[row(1, 'a')], [row(1, 'b')]]);
    const found = await foldRepeats(createRun(record));
    const { repeats } = layout(record.name);
    for (const { key } of found.rejectSegments) await staging.remove(key);
    for await (const { key } of staging.list(repeats))
      if (key.endsWith('result.json')) await staging.put(key, Buffer.from('{'));
    expect(await foldRepeats(createRun(record))).toEqual(found);
    expect((await report(record)).problems).toEqual([]);
  });

  it('of refused and of too large records are rejected like these, in one part and in two', async () => {
    for (const value of [REFUSED, HUGE]) {
      const one = await importAndFold([[row(1, value), row(1, value), row(2, 'a')]]);
      expect(one.counts).toMatchObject({ read: 3, delivered: 1, duplicate: 0, rejected: 2 });
      expect(await importAndFold([[row(1, value)], [row(1, value), row(2, 'a')]])).toEqual(one);
    }
  });

  it('are counted again when parts are added', async () => {
    const record = await importFiles([[row(1, 'a')]]);
    await foldRepeats(createRun(record));
    expect(await toFigures(record)).toMatchObject({ counts: { delivered: 1 }, repeats: { counted: true } });
    const { signal } = new AbortController();
    const slice = memorySlice(`${JSON.stringify(row(1, 'a'))}\n`, { name: 'later.json' });
    const deps = {
      checkpoints: noCheckpoints,
      store: createPartStore(staging, record),
      map: mapRow,
      mapping: record.mapping,
      batch: { events: 7, bytes: 100_000, eventBytes: 2_000 },
      deliver,
      requestsInFlight: 2,
      onProgress: () => {},
    };
    const onPart = async (part: PartMeta) => void (await importPart(part, deps, signal));
    await stageSlice({ slice, staging, prefix: layout(record.name).prefix, onPart, signal });
    expect(await toFigures(record)).toMatchObject({ counts: { delivered: 2 }, repeats: { counted: false } });
    await foldRepeats(createRun(record));
    expect(await toFigures(record)).toMatchObject({ counts: { delivered: 1, duplicate: 1 } });
  });
});
