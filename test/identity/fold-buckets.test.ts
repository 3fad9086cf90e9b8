import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import type { FactsIndex } from '../../src/contract/progress.ts';
import { type BatchLimits, DEFAULT_BATCH_LIMITS } from '../../src/deliver/batch-builder.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { foldBuckets } from '../../src/identity/fold-buckets.ts';
import { LOAD_LIMITS, type LoadLimits } from '../../src/identity/load-folds.ts';
import { listMerges } from '../../src/identity/merges/list-merges.ts';
import { emptyPersonsTally, mergePersonsTally } from '../../src/identity/persons-tally.ts';
import { resolveBuckets } from '../../src/identity/resolve-buckets.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import { saveFacts } from '../../src/state/facts/fact-object.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { anyFact } from './facts.ts';
import { createTestLedger, openAtTurn } from './ledgers.ts';

const folder = await mkdtemp(join(tmpdir(), 'fold-buckets-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const { signal } = new AbortController();
let runs = 0;

/** Both passes over parts, each pass cut into ranges at `cuts`. */
async function foldAll(
  parts: readonly (readonly IdentityFact[])[],
  cuts: readonly number[] = [],
  limits: LoadLimits = LOAD_LIMITS,
  batch: BatchLimits = DEFAULT_BATCH_LIMITS,
) {
  const prefix = `run-${++runs}/`;
  const facts: FactsIndex[] = [];
  for (const [number, part] of parts.entries()) {
    const fold = new FactFold();
    for (const fact of part) fold.add(fact);
    facts.push(await saveFacts(staging, `${prefix}parts/${number}.gz`, fold));
  }

  const edges = [0, ...cuts, BUCKETS];
  const ranges = edges.slice(1).map((to, index) => ({ from: edges[index] ?? 0, to }));
  let tally = emptyPersonsTally();
  const resolved: FactsIndex[] = [];
  const events: string[] = [];
  const known = createTestLedger();
  const ledger = openAtTurn(known, 1);
  for (const range of ranges) {
    const done = await resolveBuckets({
      staging,
      prefix: `${prefix}resolved/`,
      facts,
      ledger,
      tables: known.ids,
      ...range,
      signal,
      limits,
    });
    resolved.push(...done.facts);
    for await (const chunk of listMerges(staging, done.merges, { after: undefined, chunkEvents: 7 })) {
      events.push(...chunk.events.map(({ text }) => Buffer.from(text).toString()));
      tally = mergePersonsTally(tally, chunk.tally);
    }
    tally = mergePersonsTally(tally, done.people);
  }
  for (const range of ranges) {
    const tables = known.properties;
    const options = {
      ledger,
      tables,
      overwrite: false,
      groupIdentifyEvent: '$group_identify',
      batch,
      signal,
      limits,
    };
    for await (const chunk of foldBuckets({ staging, facts: resolved, ...range, ...options })) {
      events.push(...chunk.events.map(({ text }) => Buffer.from(text).toString()));
      tally = mergePersonsTally(tally, chunk.tally);
    }
  }
  return { events: events.sort(), tally };
}

test('neither the part cut, nor the order of parts, nor the ranges, nor the memory allowed shows in the events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyFact, { maxLength: 40 }), fc.nat(40), async (facts, cut) => {
      const whole = await foldAll([facts]);
      const cutUp = [facts.slice(cut), facts.slice(0, cut).reverse(), facts.slice(cut, cut + 5)];
      expect(await foldAll(cutUp, [13, 40], { runBytes: 50, foldBytes: 400 })).toEqual(whole);
    }),
    { numRuns: 15 },
  );
});

test('every person and group of many parts arrives exactly once, in memory for a few', async () => {
  const time = '2023-01-01T00:00:00.000Z';
  const parts = Array.from({ length: 4 }, (_, part) =>
    Array.from({ length: 500 }, (_, number): IdentityFact[] => {
      const id = `${part % 2}-${number}`; // every person is in two parts
      return [
        { kind: 'pair', anonId: `device-${id}`, userId: `user-${id}`, time },
        { kind: 'person', distinctId: `device-${id}`, time, set: { [`from_part_${part}`]: number } },
        { kind: 'person', distinctId: `user-${id}`, time, set: { plan: 'team' } },
        {
          kind: 'group',
          groupType: 'company',
          groupKey: `company-${number % 50}`,
          time,
          set: { size: number % 50 },
        },
      ];
    }).flat(),
  );
  const { events, tally } = await foldAll(parts, [32], { runBytes: 4_000, foldBytes: 20_000 });
  expect(tally).toEqual({ pairs: 1_000, persons: 1_000, groups: 50, setAside: {}, setAsideSample: [] });
  expect(events).toHaveLength(2_050);
  expect(new Set(events).size).toBe(2_050);
  const merged = events.find((text) => text.includes('"user-1-7"') && text.includes('$set_once'));
  expect(JSON.parse(merged ?? '{}')).toMatchObject({
    properties: { distinct_id: 'user-1-7', $set_once: { from_part_1: 7, from_part_3: 7, plan: 'team' } },
  });
});

test('a device whose users come from different parts is a shared one', async () => {
  const pair = (userId: string, day: number): IdentityFact => ({
    kind: 'pair',
    anonId: 'tablet',
    userId,
    time: `2023-01-0${day}T00:00:00.000Z`,
  });
  const { events, tally } = await foldAll([[pair('u2', 2)], [pair('u1', 1)]]);
  expect(events).toEqual([]);
  expect(tally.setAside).toEqual({ shared_device: 1 });
  expect(tally.setAsideSample).toEqual([
    { reason: 'shared_device', id: 'tablet', users: ['u1', 'u2'], userCount: 2 },
  ]);
});

test('a property too large for the batches asked for is set aside, and the rest is sent', async () => {
  const time = '2023-01-01T00:00:00.000Z';
  const set = { essay: 'x'.repeat(100 * 1024), plan: 'team' };
  const part: IdentityFact[] = [{ kind: 'person', distinctId: 'u1', time, set }];
  expect((await foldAll([part])).tally).toMatchObject({ persons: 1, setAside: {} });

  const small = { events: 1_000, bytes: 64 * 1024, eventBytes: 64 * 1024 };
  const { events, tally } = await foldAll([part], [], LOAD_LIMITS, small);
  expect(tally).toMatchObject({ persons: 1, setAside: { property_too_large: 1 } });
  expect(tally.setAsideSample).toMatchObject([{ id: 'u1', property: 'essay' }]);
  expect(events.map((text) => JSON.parse(text))).toMatchObject([
    { properties: { $set_once: { plan: 'team' } } },
  ]);
});

test('stops between reads when it is told to', async () => {
  const fold = new FactFold();
  fold.add({ kind: 'pair', anonId: 'd', userId: 'u', time: '2023-01-01T00:00:00.000Z' });
  const facts = [await saveFacts(staging, 'stop/part.gz', fold)];
  const stopped = AbortSignal.abort(new Error('enough'));
  await expect(
    resolveBuckets({
      staging,
      prefix: 'stop/resolved/',
      facts,
      ledger: openAtTurn(createTestLedger(), 1),
      tables: createTestLedger().ids,
      from: 0,
      to: BUCKETS,
      signal: stopped,
    }),
  ).rejects.toThrow('enough');
});

test('what a chunk sends is in the ledger before the chunk is passed on', async () => {
  const time = '2023-01-01T00:00:00.000Z';
  const fold = new FactFold();
  fold.add({ kind: 'person', distinctId: 'u1', time, set: { plan: 'team' } });
  const parts = [await saveFacts(staging, 'ahead/part.gz', fold)];
  const known = createTestLedger();
  const all = { staging, ledger: openAtTurn(known, 1), from: 0, to: BUCKETS, signal };
  const { facts } = await resolveBuckets({ ...all, prefix: 'ahead/r/', facts: parts, tables: known.ids });
  let saved = 0;
  const tables = {
    ...known.properties,
    save: async () => {
      saved += 1;
    },
  };
  const shape = { overwrite: true, groupIdentifyEvent: '$group_identify' };
  for await (const { events } of foldBuckets({ ...all, ...shape, facts, tables })) {
    expect(events).toHaveLength(1);
    expect(saved).toBe(1);
  }
  expect(saved).toBe(1);
});
