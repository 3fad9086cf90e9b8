import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isBalanced } from '../../src/contract/counts.ts';
import type { Batch, Delivery } from '../../src/contract/delivery.ts';
import { mapped, rejected, skipped } from '../../src/contract/outcome.ts';
import type { PartMeta, PartRecord } from '../../src/contract/part.ts';
import type { Receipt } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { UnavailableError } from '../../src/lib/errors.ts';
import { importPart } from '../../src/pipeline/import-part.ts';
import { createEventId } from '../../src/sources/mapping/event-id.ts';
import { createRedisCheckpoints, migrationKey } from '../../src/state/checkpoints.ts';
import { readFacts, type StoredFact } from '../../src/state/facts.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { readRejects } from '../../src/state/rejects.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

let server: TestRedis;
let redis: Redis;
let folder: string;
let staging: Staging;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = await mkdtemp(join(tmpdir(), 'backhaul-import-'));
  staging = createFolderStaging(folder);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const RECORDS = 60;
const BATCH = { events: 7, bytes: 100_000, eventBytes: 2_000 };

/** Of each kind some: plain, repeated, skipped, rejected by the map, too large, refused on arrival. */
const chooseKind = (n: number) =>
  n % 13 === 5
    ? 'repeat'
    : n % 11 === 3
      ? 'skip'
      : n % 17 === 2
        ? 'reject'
        : n === 40
          ? 'huge'
          : n % 19 === 7
            ? 'refuse'
            : 'plain';

const records: PartRecord[] = Array.from({ length: RECORDS }, (_, n) => ({
  kind: 'record',
  member: undefined,
  line: n + 1,
  bytes: Buffer.from(JSON.stringify({ n })),
}));

function mapNumber(n: number) {
  const kind = chooseKind(n);
  if (kind === 'skip') return skipped('session_marker');
  if (kind === 'reject') return rejected('no_identity', 'neither user nor device');
  const event = {
    event: kind === 'refuse' ? 'refuse me' : 'seen',
    uuid: createEventId(['test', String(kind === 'repeat' ? 0 : n)]),
    timestamp: '2023-01-01T00:00:00.000Z',
    properties: { distinct_id: 'u', ...(kind === 'huge' ? { text: 'x'.repeat(3_000) } : {}) },
  };
  const time = `2023-01-0${1 + (n % 9)}T00:00:00.000Z`;
  return mapped([event], [{ kind: 'pair', anonId: `device-${n % 20}`, userId: 'user', time }]);
}

const toPart = (id: string): PartMeta => ({
  id: `${id}/00000`,
  fileId: id,
  file: 'export.json',
  number: 0,
  format: { kind: 'json' },
  records: RECORDS,
  bytes: 0,
  sha256: '',
  etag: '',
  firstRecord: 0,
});

/** A destination that drops repeated uuids, refuses some events, and goes down when told to. */
function createDestination() {
  const stored = new Map<string, string>();
  let batches = 0;
  return {
    stored,
    deliver:
      (downAt: number, lostAnswerAt: number) =>
      async (batch: Batch): Promise<Delivery[]> => {
        batches += 1;
        if (batches === downAt) throw new UnavailableError('down before anything was stored');
        const events = JSON.parse(`[${batch.body.toString('utf8')}]`) as { uuid: string; event: string }[];
        const deliveries = events.map((event): Delivery => {
          if (event.event === 'refuse me') return { kind: 'refused', detail: 'not this one' };
          stored.set(event.uuid, JSON.stringify(event));
          return { kind: 'accepted' };
        });
        if (batches === lostAnswerAt) throw new UnavailableError('stored, but the answer was lost');
        return deliveries;
      },
  };
}

/** Runs a part until it has its receipt, as the queue would. */
async function runToEnd(
  id: string,
  failures: readonly { downAt: number; lostAnswerAt: number; width: number }[],
) {
  await redis.hset(migrationKey(id), 'epoch', 1);
  const destination = createDestination();
  const part = toPart(id);
  const attempt = (downAt: number, lostAnswerAt: number, width: number): Promise<Receipt> =>
    importPart(
      part,
      {
        checkpoints: createRedisCheckpoints(redis, id, 1),
        store: { ...createPartStore(staging, id), loadPart: async () => ({ header: undefined, records }) },
        map: ({ n }) => mapNumber(Number(n)),
        mapping: 'test@1',
        batch: BATCH,
        deliver: destination.deliver(downAt, lostAnswerAt),
        requestsInFlight: width,
        onProgress: () => {},
      },
      new AbortController().signal,
    );

  for (const { downAt, lostAnswerAt, width } of failures) {
    const receipt = await attempt(downAt, lostAnswerAt, width).catch((error: unknown) => {
      if (!(error instanceof UnavailableError)) throw error;
    });
    if (receipt) return { receipt, stored: destination.stored };
  }
  return { receipt: await attempt(0, 0, 3), stored: destination.stored };
}

describe('importPart', () => {
  it('stopped anywhere and resumed, ends as an uninterrupted run, every record counted once (I1, I3)', async () => {
    const reference = await runToEnd('reference', []);
    const { counts } = reference.receipt.tally;
    expect(counts).toMatchObject({ read: RECORDS, duplicate: 5, skipped: 6 });
    expect(isBalanced(counts)).toBe(true);
    expect(await storedFacts(reference.receipt)).toHaveLength(20 + 1);

    let run = 0;
    const failure = fc.record({
      downAt: fc.integer({ min: 0, max: 12 }),
      lostAnswerAt: fc.integer({ min: 0, max: 12 }),
      width: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(failure, { maxLength: 4 }), async (failures) => {
        run += 1;
        const { receipt, stored } = await runToEnd(`run-${run}`, failures);
        expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(reference.stored));
        expect(receipt.tally.counts).toEqual(counts);
        expect(receipt.tally.byReason).toEqual(reference.receipt.tally.byReason);
        expect(await rejectedLines(receipt)).toEqual(await rejectedLines(reference.receipt));
        expect(await storedFacts(receipt)).toEqual(await storedFacts(reference.receipt));
      }),
      { numRuns: 40 },
    );
  });

  it('keeps every reject with its line, its reason and its own text', async () => {
    const { receipt } = await runToEnd('rejects', []);
    const lines = (await Promise.all(receipt.rejectSegments.map((key) => readRejects(staging, key)))).flat();
    expect(lines).toHaveLength(receipt.tally.counts.rejected);
    expect(lines.find(({ reason }) => reason === 'event_too_large')).toMatchObject({
      line: 41,
      text: '{"n":40}',
    });
    expect(lines.find(({ reason }) => reason === 'refused')).toMatchObject({ detail: 'not this one' });
  });
});

async function rejectedLines(receipt: Receipt): Promise<string[]> {
  const lines = await Promise.all(receipt.rejectSegments.map((key) => readRejects(staging, key)));
  return lines.flat().map(({ line, reason }) => `${line} ${reason}`);
}

async function storedFacts({ findings }: Receipt): Promise<StoredFact[]> {
  const { key = '', sections = [] } = findings ?? {};
  return (
    await Promise.all(sections.map(({ offset, length }) => readFacts(staging, { key, offset, length })))
  ).flat();
}
