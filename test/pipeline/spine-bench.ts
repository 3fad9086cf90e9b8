import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Batch, Deliver, Delivery } from '../../src/contract/delivery.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../src/contract/outcome.ts';
import type { PartMeta } from '../../src/contract/part.ts';
import type { Receipt } from '../../src/contract/progress.ts';
import { FencedOutError, UnavailableError } from '../../src/lib/errors.ts';
import { importPart } from '../../src/pipeline/import-part.ts';
import { createEventId } from '../../src/sources/mapping/event-id.ts';
import { createRedisCheckpoints, migrationKey } from '../../src/state/checkpoints.ts';
import { parseStoredFact, type StoredFact } from '../../src/state/facts/fact-line.ts';
import { readLines } from '../../src/state/facts/fact-object.ts';
import { FrameWriter } from '../../src/state/frames.ts';
import { decodeFrames } from '../../src/state/part-records.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { readRejects } from '../../src/state/rejects/rejects.ts';
import { createStagedCheckpoints } from '../../src/state/staged-checkpoints.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis } from '../support/redis.ts';

/**
 * The ports of `importPart` on a real Redis and a real folder, each of which can fail at any call. One part
 * with records of every kind, and a destination that drops what it has.
 */
export interface SpineBench {
  /** Imports a part until it has its receipt, as the queue would; `attempts` beyond the list have no fault. */
  run(attempts?: readonly Attempt[]): Promise<SpineEnd>;
  close(): Promise<void>;
}

export interface Attempt {
  /** @default 1 */
  readonly requestsInFlight?: number;
  readonly fault?: Fault;
}

/** What happens at one call of a port; calls are counted from 0 over all ports of the attempt. */
export interface Fault {
  readonly call: number;
  readonly kind: FaultKind;
}

export const FAULT_KINDS = [
  /** The call fails and has no effect. */
  'lost',
  /** The call has its effect and its answer is lost. */
  'unanswered',
  /** While the call waits, another worker takes the part over and imports it to its end. */
  'overtaken',
  /** The same under a new epoch. */
  'superseded',
  /** While the call waits, Redis loses its memory and a producer acquires the lease again. */
  'wiped',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What an import left, without names that hold its part or its writers. */
export interface SpineEnd {
  readonly receipt: Receipt;
  /** Name of the port of every call of the last attempt, in order. */
  readonly calls: readonly string[];
  /** JSON texts of the events at the destination. */
  readonly stored: readonly string[];
  /** Events that reached the destination, those that it dropped as repeats included. */
  readonly arrived: number;
  readonly rejects: readonly string[];
  readonly facts: readonly StoredFact[];
  readonly fingerprints: { readonly sections: unknown; readonly rows: string };
}

export const RECORDS = 60;
export const BATCH_EVENTS = 17;
const BATCH = { events: BATCH_EVENTS, bytes: 100_000, eventBytes: 2_000 };
/** What one request takes: of every two batches one leaves a copy of its checkpoint in staging. */
const BATCH_MS = 3_000;
const MIGRATION = 'spine';
const MAPPING = 'test@1';

export async function createSpineBench(): Promise<SpineBench> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const folder = await mkdtemp(join(tmpdir(), 'backhaul-spine-'));
  const staging = createFolderStaging(folder);
  let runs = 0;

  const importOnce = (
    { part, epoch, deliver, interfere, calls }: Worker,
    { requestsInFlight = 1, fault }: Attempt,
  ): Promise<Receipt> => {
    const at =
      <Args extends unknown[], Result>(port: string, act: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        const kind = fault?.call === calls.length ? fault.kind : undefined;
        calls.push(port);
        if (kind === 'lost') throw new UnavailableError(`${port} is down`);
        if (kind === 'overtaken' || kind === 'superseded' || kind === 'wiped') await interfere(kind);
        const result = await act(...args);
        if (kind === 'unanswered') throw new UnavailableError(`the answer of ${port} was lost`);
        return result;
      };
    const inRedis = createRedisCheckpoints(redis, part.fileId, epoch);
    let clockMs = 0;
    const checkpoints = createStagedCheckpoints(
      {
        begin: at('begin', inRedis.begin),
        save: at('save', inRedis.save),
        forget: at('forget', inRedis.forget),
      },
      {
        staging: {
          ...staging,
          put: at('copy checkpoint', staging.put),
          get: at('load copy', staging.get),
          remove: at('remove copy', staging.remove),
        },
        record: { id: part.fileId, name: MIGRATION, mapping: MAPPING },
        part,
        nowMs: () => clockMs,
      },
    );
    const store = createPartStore(staging, { name: MIGRATION, id: MIGRATION });
    const deps = {
      checkpoints,
      store: {
        loadPart: at('load part', async () => decodeFrames(toFrames())),
        loadReceipt: at('load receipt', store.loadReceipt),
        saveRejects: at('keep rejects', store.saveRejects),
        loadRejected: at('load rejects', store.loadRejected),
        saveFacts: at('keep facts', store.saveFacts),
        saveFingerprints: at('keep fingerprints', store.saveFingerprints),
        createReceipt: at('create receipt', store.createReceipt),
      },
      map: ({ n }: Readonly<Record<string, unknown>>) => mapNumber(Number(n)),
      mapping: MAPPING,
      batch: BATCH,
      deliver: at('deliver', async (batch: Batch, signal: AbortSignal) => {
        clockMs += BATCH_MS;
        return deliver(batch, signal);
      }),
      requestsInFlight,
      onProgress: () => {},
    };
    return importPart(part, deps, new AbortController().signal);
  };

  return {
    async run(attempts = []) {
      runs += 1;
      const part = toPart(`run${runs}`);
      const destination = createDestination();
      let epoch = 0;
      const openEpoch = async () => {
        epoch += 1;
        await redis.hset(migrationKey(part.fileId), 'epoch', epoch);
      };
      await openEpoch();
      let calls: string[] = [];
      const attempt = (planned: Attempt) => {
        calls = [];
        const worker = () => ({ part, epoch, deliver: destination.deliver, interfere: ignore, calls: [] });
        const interfere = async (kind: FaultKind) => {
          if (kind === 'wiped') await redis.del(await redis.keys(`${migrationKey(part.fileId)}*`));
          if (kind !== 'overtaken') await openEpoch();
          if (kind !== 'wiped') await importOnce(worker(), {});
        };
        return importOnce({ ...worker(), interfere, calls }, planned);
      };

      let receipt: Receipt | undefined;
      for (const planned of [...attempts, {}]) {
        receipt = await attempt(planned).catch((error: unknown) => {
          if (!(error instanceof UnavailableError || error instanceof FencedOutError)) throw error;
          return undefined;
        });
      }
      if (!receipt) throw new Error('an attempt without a fault ended without a receipt');
      const segments = await Promise.all(receipt.rejectSegments.map((key) => readRejects(staging, key)));
      const { key = '', sections = [] } = receipt.findings ?? {};
      const facts = sections.map(async ({ offset, length }) => [
        ...(await readLines(staging, { key, offset, length })).parse(parseStoredFact),
      ]);
      return {
        receipt,
        calls,
        stored: [...destination.stored].toSorted(),
        arrived: destination.arrived(),
        rejects: segments
          .flat()
          .map(({ line, reason, detail, text }) => `${line} ${reason} ${detail} ${text}`),
        facts: (await Promise.all(facts)).flat(),
        fingerprints: {
          sections: receipt.fingerprints?.sections,
          rows: (await staging.get(receipt.fingerprints?.key ?? ''))?.toString('hex') ?? '',
        },
      };
    },
    async close() {
      redis.disconnect();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Worker {
  readonly part: PartMeta;
  readonly epoch: number;
  readonly deliver: Deliver;
  readonly interfere: (kind: FaultKind) => Promise<void>;
  /** Filled with the names of the ports that are called. */
  readonly calls: string[];
}

const ignore = async () => {};

/** A destination that drops what it has, and refuses some events. */
function createDestination() {
  const stored = new Set<string>();
  let arrived = 0;
  return {
    stored,
    arrived: () => arrived,
    async deliver(batch: Batch): Promise<Delivery[]> {
      const events = JSON.parse(`[${batch.body.toString('utf8')}]`) as { uuid: string; event: string }[];
      arrived += events.length;
      return events.map((event): Delivery => {
        if (event.event === 'refuse me') return { kind: 'refused', detail: 'not this one' };
        stored.add(JSON.stringify(event));
        return { kind: 'accepted' };
      });
    },
  };
}

/** A record that is refused, one that repeats it, and one with the id of record 0 and other content. */
const REFUSED = 7;
const REFUSED_AGAIN = 50;
const COLLIDING = 51;

/** Of each kind some; `double` has two events, of which the second is refused. */
const chooseKind = (n: number) =>
  n % 13 === 5
    ? 'repeat'
    : n % 11 === 3
      ? 'persons only'
      : n % 17 === 2
        ? 'reject'
        : n === 40
          ? 'huge'
          : n % 19 === 7
            ? 'refuse'
            : n % 9 === 4
              ? 'double'
              : 'plain';

function mapNumber(n: number): MapOutcome {
  const kind = chooseKind(n);
  if (kind === 'reject') return rejected('no_identity', 'neither user nor device');
  const facts = toFacts(n);
  if (kind === 'persons only') return skipped('feeds_people', facts);
  if (n === REFUSED_AGAIN) return mapped([toEvent(REFUSED, 'refuse me', {})], facts);
  if (n === COLLIDING) return mapped([toEvent(0, 'seen', { other: 'content' })], facts);
  const first = toEvent(
    kind === 'repeat' ? 0 : n,
    kind === 'refuse' ? 'refuse me' : 'seen',
    kind === 'huge' ? { text: 'x'.repeat(3_000) } : {},
  );
  return mapped(kind === 'double' ? [first, toEvent(1_000 + n, 'refuse me', {})] : [first], facts);
}

const toEvent = (n: number, event: string, properties: object) => ({
  event,
  uuid: createEventId(['test', String(n)]),
  timestamp: '2023-01-01T00:00:00.000Z',
  properties: { distinct_id: 'user', ...properties },
});

/** Every record says something that no other says, so that none can be left out unnoticed. */
function toFacts(n: number): IdentityFact[] {
  const time = `2023-01-0${1 + (n % 9)}T00:00:00.000Z`;
  return [
    { kind: 'pair', anonId: `device-${n}`, userId: `user-${n % 7}`, time },
    { kind: 'person', distinctId: `user-${n % 7}`, time, set: { [`seen ${n}`]: n }, setOnce: { first: n } },
    { kind: 'group', groupType: 'company', groupKey: String(n % 3), time, set: { [`member ${n}`]: true } },
  ];
}

function toFrames(): Buffer {
  const frames = new FrameWriter(undefined);
  for (let n = 0; n < RECORDS; n += 1) {
    const bytes = Buffer.from(JSON.stringify({ n }));
    frames.add({ kind: 'record', member: undefined, line: n + 1, bytes });
  }
  return frames.take();
}

const toPart = (fileId: string): PartMeta => ({
  id: `${fileId}/00000`,
  fileId,
  file: 'export.json',
  number: 0,
  format: { kind: 'json' },
  records: RECORDS,
  bytes: 0,
  sha256: '',
  etag: '',
  firstRecord: 0,
});
