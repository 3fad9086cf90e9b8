import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { REQUEST_TIMEOUT_MS } from '../../../contract/delivery.ts';
import { raceAbort, waitFor } from '../../../lib/async/abort.ts';
import type { LedgerAccess } from '../../../state/ledger/ledger.ts';
import { ledgerLockKey } from './ledger-lock.ts';

/*
 * Requests about persons that are on the wire. A destination may still apply one after its migration lost the ledger,
 * up to REQUEST_TIMEOUT_MS later, so a turn sends nothing before those of other turns are answered or too old. Redis
 * has each of them from before its first byte until its answer. Those of the same turn are not waited for, as whoever
 * continues a turn sends what it sent: the same events, and about each person at once.
 */

/** A turn that a migration has at a ledger. */
export interface TurnOf {
  /** Id of the migration. */
  readonly migration: string;
  readonly name: string;
  readonly turn: number;
}

export interface OnWire extends TurnOf {
  /** When it went out, in ms, by the clock of Redis and by that of the process that sent it. */
  readonly redisMs: number;
  readonly wallMs: number;
}

type LedgerKeys = Pick<LedgerAccess, 'id' | 'key'>;

const onWireKey = (ledger: string) => `{bh}:on-wire:${ledger}`;

/** Two where the ledger has a name: other migrations may have the key of its project alone. */
const toKeys = ({ id, key = id }: LedgerKeys): readonly [string, string] => [onWireKey(id), onWireKey(key)];

/** Redis keeps them this long after the last request about persons. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** One that was never answered is dropped when another one goes out this much later. */
const DROPPED_AFTER_MS = 3_600_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

const NOTE_REQUEST = `${NOW}
for each = 1, 2 do
  redis.call('ZREMRANGEBYSCORE', KEYS[each], '-inf', now - ${DROPPED_AFTER_MS})
  redis.call('ZADD', KEYS[each], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[each], ${KEPT_MS})
end
return redis.call('MGET', KEYS[3], KEYS[4])`;

const NOTE_TURN = `${NOW}
local known = tonumber(redis.call('GET', KEYS[3]) or '0')
if ARGV[2] ~= '' and known < tonumber(ARGV[3]) then
  for each = 1, 2 do
    redis.call('ZADD', KEYS[each], now, ARGV[2])
    redis.call('PEXPIRE', KEYS[each], ${KEPT_MS})
  end
end
return redis.call('SET', KEYS[3], ARGV[1], 'PX', ${KEPT_MS})`;

const LOOK_AT_WIRE = `${NOW}
local found = {}
for each = 1, 2 do
  for _, one in ipairs(redis.call('ZRANGE', KEYS[each], 0, -1, 'WITHSCORES')) do table.insert(found, one) end
end
return { now, found }`;

const toMember = ({ migration, turn, name }: TurnOf) =>
  JSON.stringify([migration, turn, name, Date.now(), randomUUID()]);

const member = z.tuple([z.string(), z.number(), z.string(), z.number(), z.string()]);

export interface SentRequest {
  /** What the locks of the ledger held when Redis had noted the request: that of the name, that of the key. */
  readonly locks: readonly (string | null | undefined)[];
  /** It was answered, or never went out. */
  end(): void;
}

/** Notes a request before it goes out. Whoever takes the ledger afterwards finds it. */
export async function noteRequest(redis: Redis, ledger: LedgerKeys, of: TurnOf): Promise<SentRequest> {
  const noted = toMember(of);
  const keys = toKeys(ledger);
  const { id, key = id } = ledger;
  const locks = [ledgerLockKey(id), ledgerLockKey(key)];
  const held: unknown = await redis.eval(NOTE_REQUEST, 4, ...keys, ...locks, noted);
  return {
    locks: heldLocks.parse(held),
    end() {
      // Where Redis is not told, the request counts until it is too old.
      for (const one of new Set(keys)) redis.zrem(one, noted).catch(() => {});
    },
  };
}

const heldLocks = z.array(z.string().nullable());

/**
 * Notes that Redis knows the requests of a turn from now on. `sender`: the last turn of which one may be on the wire,
 * which counts as one that goes out now unless Redis knows it, or a later turn: it lost its memory since.
 */
export async function noteTurn(
  redis: Redis,
  ledger: LedgerKeys,
  turn: number,
  sender: TurnOf | undefined,
): Promise<void> {
  const perhaps = sender ? toMember(sender) : '';
  const keys = [...toKeys(ledger), `${onWireKey(ledger.id)}:turn`];
  await redis.eval(NOTE_TURN, keys.length, ...keys, turn, perhaps, sender?.turn ?? 0);
}

export interface WireClocks {
  /** In ms; it never goes back. */
  readonly monotonic: () => number;
  readonly wall: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const SYSTEM_CLOCKS: WireClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  wait: waitFor,
};

const LOOK_EVERY_MS = 250;

export interface WireDeps {
  readonly redis: Redis;
  /** Called once, where there is something to wait for. `until` at the latest, in ms of the wall clock. */
  readonly onWait: (of: Pick<TurnOf, 'name'>, until: number) => void;
  /** Throws when the run must end, or has lost the ledger. */
  readonly assertRunning: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly clocks?: WireClocks;
}

/** Waits until no request of another turn is on the wire. Only for whoever has the ledger: no new one goes out then. */
export async function waitForWire(
  ledger: LedgerKeys,
  { migration, turn }: Pick<TurnOf, 'migration' | 'turn'>,
  { redis, onWait, assertRunning, signal, clocks = SYSTEM_CLOCKS }: WireDeps,
): Promise<void> {
  const beganMs = clocks.monotonic();
  for (let looks = 0; ; looks += 1) {
    const { requests, redisMs } = await raceAbort(lookAtWire(redis, ledger), signal);
    const others = requests.filter((one) => one.migration !== migration || one.turn !== turn);
    const last = findLast(others, { redisMs, wallMs: clocks.wall() });
    const leftMs = Math.min(last?.leftMs ?? 0, REQUEST_TIMEOUT_MS - (clocks.monotonic() - beganMs));
    if (!last || leftMs <= 0) return;
    if (looks === 0) onWait(last, clocks.wall() + leftMs);
    await clocks.wait(Math.min(leftMs, LOOK_EVERY_MS), signal);
    await assertRunning();
  }
}

/**
 * The one that may arrive last, and for how long. Of how long ago it went out the smaller answer of two clocks counts,
 * because either may have been set forward.
 */
export function findLast(
  requests: readonly OnWire[],
  now: { readonly redisMs: number; readonly wallMs: number },
): (OnWire & { readonly leftMs: number }) | undefined {
  let last: (OnWire & { readonly leftMs: number }) | undefined;
  for (const one of requests) {
    const agoMs = Math.max(0, Math.min(now.redisMs - one.redisMs, now.wallMs - one.wallMs));
    const leftMs = REQUEST_TIMEOUT_MS - agoMs;
    if (leftMs > (last?.leftMs ?? 0)) last = { ...one, leftMs };
  }
  return last;
}

async function lookAtWire(redis: Redis, ledger: LedgerKeys) {
  const [redisMs, found] = onWire.parse(await redis.eval(LOOK_AT_WIRE, 2, ...toKeys(ledger)));
  const requests: OnWire[] = [];
  for (let at = 0; at < found.length; at += 2) {
    const [migration, turn, name, wallMs] = member.parse(JSON.parse(found[at] ?? ''));
    requests.push({ migration, turn, name, wallMs, redisMs: Number(found[at + 1]) });
  }
  return { requests, redisMs };
}

/** The clock of Redis, then each request and when it went out. */
const onWire = z.tuple([z.number(), z.array(z.string())]);
