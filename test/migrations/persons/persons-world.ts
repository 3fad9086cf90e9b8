import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { zeroCounts } from '../../../src/contract/counts.ts';
import type { Deliver } from '../../../src/contract/delivery.ts';
import { toHeard, toHeardAtTime } from '../../../src/contract/heard.ts';
import type { IdentityFact, Seen } from '../../../src/contract/identity-fact.ts';
import { type MapOutcome, mapped, skipped } from '../../../src/contract/outcome.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { addHeard, FactFold } from '../../../src/identity/fact-fold.ts';
import { FencedOutError, getMessage } from '../../../src/lib/errors.ts';
import type { OpenMigration } from '../../../src/migrations/open-migrations.ts';
import { loadPersons } from '../../../src/migrations/persons/load-persons.ts';
import { toLedgerDestination } from '../../../src/migrations/persons/project/ledger-destination.ts';
import {
  foldRange,
  mergeRange,
  type RangeWork,
  resolveRange,
} from '../../../src/migrations/persons/ranges.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { sendPersons } from '../../../src/migrations/run/persons/send-persons.ts';
import { StatusBoard } from '../../../src/migrations/run/run-status.ts';
import type { WorkEvent, WorkQueue } from '../../../src/migrations/run/work-queue.ts';
import { limitToWindow, type Window } from '../../../src/pipeline/limit-to-window.ts';
import type { Control } from '../../../src/state/control.ts';
import { loadLatestEpochNumber, openEpoch } from '../../../src/state/epochs.ts';
import { saveFacts } from '../../../src/state/facts/fact-object.ts';
import { LEDGERS } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { toFactsKey } from '../../../src/state/keys/parts.ts';
import { type SharedDevices, toLedgerAccess } from '../../../src/state/ledger/ledger.ts';
import { createMigration, loadMigration } from '../../../src/state/migrations.ts';
import { createReceipt } from '../../../src/state/receipts.ts';
import { createLivePersons, type LivePersons } from '../../support/live-persons.ts';
import { saveControl } from '../../support/save-control.ts';
import type { StoredEvent } from '../../support/strict-destination.ts';

/*
 * The use cases about persons (send, hold, release, rm) with staging, Redis and destination in memory, so that
 * thousands of histories can be tried. Every call to one of the three is a place where a process may be killed.
 */

/** Ends a process at a call. */
export interface Kill {
  /** From 1. */
  readonly call: number;
  /** Whether the call has its effect; the process never learns of it. */
  readonly after: boolean;
}

/** Lets a process sleep before a call. */
export interface Freeze {
  /** From 1. */
  readonly call: number;
  readonly meanwhile: () => Promise<void>;
}

export type Ended = 'done' | 'killed' | { readonly failed: string };

export interface PersonsWorld {
  readonly live: LivePersons;
  /** Everything that was said about persons so far, as far as it counts, whether it was removed since or not. */
  readonly said: readonly Stated[];
  /** What finished migrations reported as unmerged, as reason and id. */
  readonly reported: ReadonlySet<string>;
  /** Merges as they arrived, and how many facts had been said by then. */
  readonly merged: readonly { readonly merge: string; readonly said: number }[];
  /** Calls of the last process. */
  readonly calls: number;
  /** Objects, by key. */
  readonly objects: Map<string, Buffer>;
  /** Events of which this is true are refused. */
  refuses: (event: StoredEvent) => boolean;
  /** What the manifests of migrations say that begin, or are continued, from now on. */
  groupIdentifyEvent: string;
  overwrite: boolean;
  /** Objects of which this is true are left out of a listing; listings are counted from 1. */
  hides: (key: string, listing: number) => boolean;
  /** Objects of which this is true are created, and the answer is that they are there: a first one was lost. */
  losesAnswer: (key: string) => boolean;
  /** Listings so far. */
  readonly listings: number;
  /** Begins a migration, or tops it up; nothing about persons is sent. `window`: of the migration. */
  add(name: string, facts: readonly Stated[], window?: Window): Promise<void>;
  /** Resumes a migration. `releases`: it sends what these hold. */
  send(name: string, options?: SendOptions): Promise<Ended>;
  remove(name: string, options?: { forget?: boolean; kill?: Kill | undefined }): Promise<Ended>;
  /** Which migrations sent what this one held. */
  loadReleasedBy(name: string): Promise<string | undefined>;
  /** Whether its persons are held, and nobody has released them. */
  isHeld(name: string): Promise<boolean>;
  /** Puts the ledgers back as `backUp` found them. */
  backUp(): ReadonlyMap<string, Buffer>;
  restore(backup: ReadonlyMap<string, Buffer>): void;
}

export interface SendOptions {
  readonly kill?: Kill | undefined;
  readonly freeze?: Freeze;
  readonly hold?: boolean;
  readonly releases?: readonly string[];
  readonly acceptRefusals?: boolean;
}

/** What a record states: a fact, or of whom its event is. */
export type Stated = IdentityFact | (Seen & { readonly kind: 'seen' }) | HeardPair;

/** What is said by a record whose facts do not count: it is rejected, without a time or with one. */
export interface HeardPair {
  readonly kind: 'heard';
  readonly anonId: string;
  readonly userId: string;
  readonly time: string;
  readonly hasTime: boolean;
}

class Killed extends Error {}

const DESTINATION = { url: 'http://service.test', project: 'p', apiKey: 'key' };
const log = pino({ level: 'silent' });

const toManifest = (name: string, people: object) => ({
  name,
  source: {
    type: 'jsonl',
    from: '*.json',
    mapping: { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' }, key: ['n'] },
  },
  destination: { url: DESTINATION.url, project: DESTINATION.project, apiKey: '${KEY}' },
  people,
});

export function createPersonsWorld({
  overwrite,
  sharedDevices,
}: {
  readonly overwrite: boolean;
  readonly sharedDevices?: SharedDevices;
}): PersonsWorld {
  const access = { ...toLedgerAccess(DESTINATION), ...(sharedDevices ? { sharedDevices } : {}) };
  const objects = new Map<string, Buffer>();
  const strings = new Map<string, string>();
  const live = createLivePersons();
  const said: Stated[] = [];
  const reported = new Set<string>();
  const merged: { merge: string; said: number }[] = [];
  let latest = { calls: 0 };
  let listings = 0;
  const isListed = (number: number) => (key: string) => !world.hides(key, number);
  let seconds = 0;
  const now = () => new Date(Date.UTC(2024, 0, 1) + 1000 * ++seconds);

  /** One process, and what it sees of the world. */
  const start = (kill?: Kill, freeze?: Freeze) => {
    const end = new AbortController();
    const count = { calls: 0 };
    latest = count;
    let sleep: Promise<void> | undefined;
    const call = async <T>(work: () => T, isDelivery = false): Promise<T> => {
      end.signal.throwIfAborted();
      count.calls += 1;
      if (freeze && !sleep && count.calls >= freeze.call && !isDelivery) {
        strings.clear(); // it sleeps for longer than a lock lasts
        sleep = freeze.meanwhile();
        await sleep;
      }
      if (count.calls !== kill?.call) return work();
      if (kill.after) work();
      end.abort(new Killed());
      throw end.signal.reason;
    };
    return {
      signal: end.signal,
      call,
      /** What happens meanwhile does, although another call ends the process. */
      wake: () => sleep,
      staging: createMemoryStaging(
        objects,
        call,
        () => isListed(++listings),
        (key) => world.losesAnswer(key),
      ),
      redis: createLocks(strings, call) as unknown as Redis,
    };
  };
  const outer = start();

  const deliverTo =
    ({ call }: ReturnType<typeof start>): Deliver =>
    async (batch, _signal, condition) => {
      await condition?.assert();
      return call(() => {
        const events = JSON.parse(`[${batch.body.toString('utf8')}]`) as Omit<StoredEvent, 'distinctId'>[];
        return events.map((each) => {
          const event = { ...each, distinctId: String(each.properties['distinct_id']) };
          if (world.refuses(event)) return { kind: 'refused', detail: 'not this one' } as const;
          live.take(event);
          for (const merge of live.merges().slice(merged.length)) merged.push({ merge, said: said.length });
          return { kind: 'accepted' } as const;
        });
        // A request that is under way when its process falls asleep arrives whenever it does.
      }, true);
    };

  const settle = async (process: ReturnType<typeof start>, work: () => Promise<void>): Promise<Ended> => {
    try {
      await work();
      return 'done';
    } catch (error) {
      if (process.signal.aborted) return 'killed';
      return { failed: getMessage(error) };
    } finally {
      await process.wake();
      strings.clear(); // a lock expires, and so does that of a process which is gone
    }
  };
  const countParts = (name: string) =>
    [...objects.keys()].filter((key) => key.startsWith(layout(name).receipts)).length;
  const enter = (name: string, state: Control['state']) =>
    saveControl(outer.staging, name, { state, reason: '', at: now().toISOString() });

  const world: PersonsWorld = {
    live,
    said,
    reported,
    merged,
    objects,
    get calls() {
      return latest.calls;
    },
    refuses: () => false,
    groupIdentifyEvent: '$group_identify',
    overwrite,
    hides: () => false,
    losesAnswer: () => false,
    get listings() {
      return listings;
    },
    async add(name, facts, window = {}) {
      const { staging } = outer;
      if (!(await loadMigration(staging, name))) await begin(staging, name);
      const part = `f-${countParts(name)}`;
      const fold = new FactFold();
      for (const fact of facts) addOutcome(fold, limitToWindow(() => toOutcome(fact), window)({}));
      const key = toFactsKey(`${name}/`, `${part}/1-1`);
      const counts = zeroCounts();
      await createReceipt(staging, name, {
        part,
        file: 'a.json',
        mapping: 'jsonl@1',
        tally: { counts, events: { sent: 0, accepted: 0 }, byDay: {}, byEvent: {}, byReason: {} },
        rejectSegments: [],
        findings: await saveFacts(staging, key, fold),
      });
      said.push(...facts.flatMap((fact) => toCounted(fact, window)));
    },
    async send(name, { kill, freeze, hold = false, releases, acceptRefusals = false } = {}) {
      if (!(await loadMigration(outer.staging, name))) await begin(outer.staging, name, releases);
      const record = await loadMigration(outer.staging, name);
      if (!record) throw new Error(`${name} is missing`);
      const process = start(kill, freeze);
      const { staging, redis, signal } = process;
      const epoch = (await loadLatestEpochNumber(outer.staging, name)) + 1;
      const opening = { openedAt: now().toISOString(), ...record.opening, ledger: access.id };
      await openEpoch(outer.staging, name, epoch, { ...opening, acceptRefusals });
      await enter(name, 'running');
      const migration: OpenMigration = {
        record,
        epoch,
        settings: {
          batch: { events: 2, bytes: 1024 * 1024, eventBytes: 900 * 1024 },
          requestsInFlight: 1,
          overwritePeople: world.overwrite,
          groupIdentifyEvent: world.groupIdentifyEvent,
          ledger: access,
        },
        maps: {} as OpenMigration['maps'],
        deliver: deliverTo(process),
        openSlice: () => {
          throw new Error('nothing is staged here');
        },
      };
      const queue = createQueue(async (job, range) => {
        const deps = { staging, redis, signal, onProgress: () => {} };
        const work = { ...range, migration };
        if (job === 'resolve-people') return resolveRange(work, deps);
        return job === 'merge-people' ? mergeRange(work, deps) : foldRange(work, deps);
      }, signal);
      const board = new StatusBoard(() => {}, { budget: undefined, nowMs: () => 0 });
      board.parts.done = countParts(name);
      return settle(process, async () => {
        const failures = await sendPersons({
          record,
          epoch,
          staging,
          board,
          begun: new Map(),
          assertVolume: () => {},
          schedulerDeps: {
            queue,
            windowSize: 8,
            makeJobId: ({ name: job, id }, generation) => `${name} ${epoch} ${job} ${id} ${generation}`,
            assertRunning: async () => {
              if ((await loadLatestEpochNumber(staging, name)) > epoch)
                throw new FencedOutError('superseded');
            },
            assertNotHeld: async () => {},
            signal,
          },
          redis,
          log,
          now,
          persons: {
            hold,
            destination: toLedgerDestination(record.opening.manifest),
            resolveLedger: () => access,
            acceptRefusals,
          },
        });
        if (failures[0]) throw new Error(failures[0].reason);
        await enter(name, 'finished');
        const { people } = (await loadPersons(outer.staging, name)).sent;
        for (const { reason, id } of people.setAsideSample) reported.add(`${reason} ${id}`);
      });
    },
    remove(name, { forget = false, kill } = {}) {
      const process = start(kill);
      const { staging, redis } = process;
      const store = { staging, now, askRedis: <T>(ask: (redis: Redis) => Promise<T>) => ask(redis) };
      return settle(process, async () => {
        await removeMigration(store, name, { forget, resolveLedger: () => access });
      });
    },
    loadReleasedBy: async (name) => (await loadPersons(outer.staging, name)).releasedBy,
    isHeld: async (name) => (await loadPersons(outer.staging, name)).isHeld,
    backUp: () => new Map([...objects].filter(([key]) => key.startsWith(LEDGERS))),
    restore(backup) {
      for (const key of [...objects.keys()]) if (key.startsWith(LEDGERS)) objects.delete(key);
      for (const [key, body] of backup) objects.set(key, body);
    },
  };

  const begin = async (staging: Staging, name: string, releases?: readonly string[]) => {
    const createdAt = now().toISOString();
    await createMigration(staging, {
      id: `${name} ${createdAt}`,
      name,
      identity: {},
      identitySha256: '',
      mapping: 'jsonl@1',
      destination: DESTINATION.url,
      files: [],
      createdAt,
      ...(releases ? { releases: [...releases] } : {}),
      opening: {
        manifest: toManifest(name, {
          overwrite: world.overwrite,
          groupIdentifyEvent: world.groupIdentifyEvent,
        }),
        baseDir: '/',
      },
    });
  };
  return world;
}

/** What a record outside of a window says of persons and groups does not count, and whom it names is heard. */
function toCounted(fact: Stated, { from = '', until = '9' }: Window): Stated[] {
  if (fact.kind === 'join' || fact.kind === 'heard' || (fact.time >= from && fact.time < until))
    return [fact];
  return fact.kind === 'pair'
    ? [{ kind: 'heard', anonId: fact.anonId, userId: fact.userId, time: fact.time, hasTime: true }]
    : [];
}

/** Of a record that states one fact. */
function toOutcome(fact: Stated): MapOutcome {
  if (fact.kind === 'join') return skipped('merged_ids', [fact]);
  if (fact.kind === 'heard') {
    const { anonId, userId, time, hasTime } = fact;
    const facts = anonId === userId ? [] : [{ kind: 'pair' as const, anonId, userId, time }];
    return { ...skipped('no_items'), heard: (hasTime ? toHeardAtTime : toHeard)({ facts, userId }) };
  }
  const event = { event: 'e', uuid: '', timestamp: fact.time, properties: { distinct_id: '' } };
  if (fact.kind !== 'seen') return mapped([event], [fact]);
  return mapped([event], [], fact.isUser ? fact.id : undefined, fact);
}

function addOutcome(fold: FactFold, outcome: MapOutcome): void {
  if (outcome.kind === 'rejected') throw new Error(outcome.detail);
  if (outcome.userId !== undefined) fold.addUser(outcome.userId);
  for (const fact of outcome.facts) fold.add(fact);
  if (outcome.seen) fold.addSeen(outcome.seen, outcome.kind === 'mapped');
  if (outcome.heard) addHeard(fold, outcome.heard);
}

type Call = <T>(work: () => T) => Promise<T>;

function createMemoryStaging(
  objects: Map<string, Buffer>,
  call: Call,
  beginListing: () => (key: string) => boolean,
  losesAnswer: (key: string) => boolean,
): Staging {
  return {
    location: 'memory',
    put: (key, body) =>
      call(() => {
        objects.set(key, Buffer.from(body));
        return { etag: '' };
      }),
    create: (key, body) =>
      call(() => {
        if (objects.has(key)) return false;
        objects.set(key, Buffer.from(body));
        return !losesAnswer(key);
      }),
    get: (key) => call(() => objects.get(key)),
    getRange: (key, offset, length) =>
      call(() => {
        const body = objects.get(key)?.subarray(offset, offset + length);
        if (body?.length !== length) throw new Error(`${key} is gone or too short`);
        return body;
      }),
    async *list(prefix) {
      const isListed = beginListing();
      const found = await call(() =>
        [...objects.keys()].filter((key) => key.startsWith(prefix) && isListed(key)).sort(),
      );
      for (const key of found) {
        const body = objects.get(key);
        if (body) yield { key, bytes: body.length };
      }
    },
    remove: (key) => call(() => void objects.delete(key)),
  };
}

/** The commands that the lock of a ledger and the use cases about persons need. */
function createLocks(strings: Map<string, string>, call: Call) {
  return {
    set: (key: string, value: string) =>
      call(() => {
        if (strings.has(key)) return null;
        strings.set(key, value);
        return 'OK';
      }),
    get: (key: string) => call(() => strings.get(key) ?? null),
    /** Epochs of producers are not kept here. */
    hdel: () => call(() => 0),
    mget: (...keys: string[]) => call(() => keys.map((key) => strings.get(key) ?? null)),
    /** Of a request that another turn has on the wire nothing is known: none arrives late here. */
    eval: (script: string, keys: number, ...[key = '', value = '', next = '', inner = '']: string[]) =>
      call((): unknown => {
        if (keys === 4) return [strings.get(next) ?? null, strings.get(inner) ?? null];
        if (keys > 1) return [0, []];
        if (strings.get(key) !== value) return 0;
        if (script.includes("'DEL'")) strings.delete(key);
        else strings.set(key, next);
        return 1;
      }),
    zrem: async () => 1,
    del: (key: string) => call(() => (strings.delete(key) ? 1 : 0)),
    exists: (key: string) => call(() => (strings.has(key) ? 1 : 0)),
  };
}

/** Does each job at once. */
function createQueue(
  work: (job: string, range: Omit<RangeWork, 'migration'>) => Promise<void>,
  signal: AbortSignal,
): WorkQueue {
  const listeners = new Set<(event: WorkEvent) => void>();
  const settled = (jobId: string, state: Extract<WorkEvent, { kind: 'settled' }>['state']) => {
    for (const listener of listeners) listener({ kind: 'settled', jobId, state });
  };
  return {
    async add(jobs) {
      for (const { name, jobId, payload } of jobs)
        work(name, payload as Omit<RangeWork, 'migration'>).then(
          () => settled(jobId, { kind: 'done' }),
          (error: unknown) => {
            if (!signal.aborted) settled(jobId, { kind: 'failed', reason: getMessage(error) });
          },
        );
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: async () => ({ kind: 'open' }),
    findHold: async () => undefined,
  };
}
