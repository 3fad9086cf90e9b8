import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { FactsIndex } from '../../src/contract/progress.ts';
import { DEFAULT_BATCH_LIMITS } from '../../src/deliver/batch-builder.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { foldBuckets } from '../../src/identity/fold-buckets.ts';
import { listMerges } from '../../src/identity/merges/list-merges.ts';
import { type ResolvedRange, resolveBuckets } from '../../src/identity/resolve-buckets.ts';
import type { SentChunk } from '../../src/identity/send-chunks.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import { saveFacts } from '../../src/state/facts/fact-object.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { createTestLedger, openAtTurn } from './ledgers.ts';

const folder = await mkdtemp(join(tmpdir(), 'many-ids-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const { signal } = new AbortController();
const TIME = '2023-01-01T00:00:00.000Z';
const ALL = { from: 0, to: BUCKETS, signal };

/** Anonymous ids of one user, and other persons, a few thousand to a part. */
async function saveParts(prefix: string, ids: number, persons: number): Promise<FactsIndex[]> {
  const facts: FactsIndex[] = [];
  for (let start = 0; start < Math.max(ids, persons); start += 5_000) {
    const fold = new FactFold();
    for (let n = start; n < start + 5_000; n += 1) {
      if (n < ids) {
        fold.add({ kind: 'pair', anonId: `device-${n}`, userId: 'busy', time: TIME });
        fold.add({ kind: 'person', distinctId: `device-${n}`, time: TIME, set: { locale: 'de' } });
      }
      if (n < persons) fold.add({ kind: 'person', distinctId: `person-${n}`, time: TIME, set: { n } });
    }
    facts.push(await saveFacts(staging, `${prefix}${start}.gz`, fold));
  }
  return facts;
}

/** CPU time of this process between two turns of the event loop: not of a machine that is busy otherwise. */
async function measureLongestTurn(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = process.cpuUsage();
  let isOver = false;
  const tick = () => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.cpuUsage();
    if (!isOver) setImmediate(tick);
  };
  tick();
  await work();
  isOver = true;
  return longest;
}

async function countChunks(chunks: AsyncIterable<SentChunk>): Promise<{ events: number; most: number }> {
  let events = 0;
  let most = 0;
  for await (const chunk of chunks) {
    events += chunk.events.length;
    most = Math.max(most, chunk.events.length);
  }
  return { events, most };
}

test('one user with very many anonymous ids never holds the event loop, nor many events in memory', async () => {
  const ids = 40_000;
  const facts = await saveParts('busy/', ids, 0);
  const known = createTestLedger();
  const ledger = openAtTurn(known, 1);
  let resolved: ResolvedRange | undefined;
  const counted: { events: number; most: number }[] = [];
  const longestMs = await measureLongestTurn(async () => {
    resolved = await resolveBuckets({ ...ALL, staging, prefix: 'busy-r/', facts, ledger, tables: known.ids });
    const merges = listMerges(staging, resolved.merges, { after: undefined, chunkEvents: 1_000 });
    counted.push(await countChunks(merges));
    const shape = { overwrite: false, groupIdentifyEvent: '$group_identify' };
    const tables = known.properties;
    counted.push(
      await countChunks(foldBuckets({ ...ALL, ...shape, staging, facts: resolved.facts, ledger, tables })),
    );
  });
  expect(counted).toEqual([
    { events: ids, most: 1_000 },
    { events: 1, most: 1 },
  ]);
  // As one map it took 9 s for 500,000 ids, so 700 ms for these.
  expect(longestMs).toBeLessThan(350);
  expect(Math.max(...(resolved?.merges ?? []).map(({ count }) => count))).toBeLessThanOrEqual(10_000);
}, 60_000);

test('what is sent after any position is exactly what was not sent up to it', async () => {
  const facts = await saveParts('cut/', 300, 200);
  const known = createTestLedger();
  const ledger = openAtTurn(known, 1);
  const resolved = await resolveBuckets({
    ...ALL,
    staging,
    prefix: 'cut-r/',
    facts,
    ledger,
    tables: known.ids,
  });
  const batch = { ...DEFAULT_BATCH_LIMITS, events: 30 };
  const list = async (make: (after: string | undefined) => AsyncIterable<SentChunk>) => {
    const chunks: SentChunk[] = [];
    for await (const chunk of make(undefined)) chunks.push(chunk);
    const uuids = (some: readonly SentChunk[]) =>
      some.flatMap(({ events }) => events.map(({ uuid }) => uuid));
    expect(chunks.length).toBeGreaterThan(5);
    for (const [index, { position }] of chunks.entries()) {
      const rest: SentChunk[] = [];
      for await (const chunk of make(position)) rest.push(chunk);
      expect(uuids(rest)).toEqual(uuids(chunks.slice(index + 1)));
    }
    return uuids(chunks);
  };
  const merges = await list((after) => listMerges(staging, resolved.merges, { after, chunkEvents: 30 }));
  // In memory for a few persons at a time, and for all of them at once: a position means the same.
  const fold = (limits: { runBytes: number; foldBytes: number }) => (after: string | undefined) =>
    foldBuckets({
      ...ALL,
      staging,
      facts: resolved.facts,
      ledger,
      tables: known.properties,
      overwrite: false,
      groupIdentifyEvent: '$group_identify',
      batch,
      after,
      limits,
    });
  const persons = await list(fold({ runBytes: 1e6, foldBytes: 1e7 }));
  expect([merges.length, persons.length]).toEqual([300, 201]);
  const inSlices: string[] = [];
  for await (const { events } of fold({ runBytes: 1e6, foldBytes: 9_000 })(undefined))
    inSlices.push(...events.map(({ uuid }) => uuid));
  expect(inSlices).toEqual(persons);
});
