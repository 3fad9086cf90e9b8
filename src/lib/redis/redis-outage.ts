import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';

/** A connection without an error for so long is usable: what Redis cannot do is asked for again each second. */
const QUIET_MS = 2_500;
const LOOK_EVERY_MS = 500;

type TroubleListener = (reason: string | undefined) => void;

/** A connection's share in what keeps its process from using a Redis. */
export interface RedisOutage {
  /** The connection, or what waits on it, met an error. */
  meet(reason: string): void;
  /** Called at once where there is trouble, and at every change. Returns what stops it. */
  watch(listener: TroubleListener): () => void;
  /** The connection is not used any more. */
  leave(): void;
}

interface Shared {
  /** Whether each connection is in use, by what its owner knows. */
  readonly members: Map<object, () => boolean>;
  readonly listeners: Set<TroubleListener>;
  reason: string | undefined;
  sinceMs: number;
  lastErrorMs: number;
  timer: NodeJS.Timeout | undefined;
}

/** By address. A process has a dozen connections to its Redis, and all of them meet the same. */
const outages = new Map<unknown, Shared>();

/**
 * Joins what the connections of this process to one address say: it is logged once that Redis cannot be used, and once
 * that it can be again. `isSilent`: whether the connection is ready and answers nothing.
 */
export function joinRedisOutage(redis: Redis, log: Logger, isSilent = () => false): RedisOutage {
  const address = toAddress(redis);
  const shared = outages.get(address) ?? createShared();
  outages.set(address, shared);
  const member = {};
  shared.members.set(member, () => redis.status === 'ready' && !isSilent());

  const leave = () => {
    shared.members.delete(member);
    if (shared.members.size > 0) return;
    clearInterval(shared.timer);
    if (outages.get(address) === shared) outages.delete(address);
  };
  redis.once('end', leave);

  const change = (next: string | undefined) => {
    if (next === shared.reason) return;
    shared.reason = next;
    for (const listener of shared.listeners) listener(next);
  };
  const lookAgain = () => {
    if ([...shared.members.values()].some((isUsable) => !isUsable())) shared.lastErrorMs = performance.now();
    if (performance.now() - shared.lastErrorMs < QUIET_MS) return;
    clearInterval(shared.timer);
    shared.timer = undefined;
    log.info({ waitedMs: Math.round(performance.now() - shared.sinceMs) }, 'Redis can be used again');
    change(undefined);
  };
  return {
    meet(reason) {
      if (!shared.members.has(member)) return; // it is being closed
      shared.lastErrorMs = performance.now();
      if (shared.timer === undefined) {
        shared.sinceMs = shared.lastErrorMs;
        log.warn({ err: reason }, 'Redis cannot be used; waiting for it');
        shared.timer = setInterval(lookAgain, LOOK_EVERY_MS).unref();
      }
      change(reason);
    },
    watch(listener) {
      shared.listeners.add(listener);
      if (shared.reason !== undefined) listener(shared.reason);
      return () => shared.listeners.delete(listener);
    },
    leave,
  };
}

const createShared = (): Shared => ({
  members: new Map(),
  listeners: new Set(),
  reason: undefined,
  sinceMs: 0,
  lastErrorMs: 0,
  timer: undefined,
});

const toAddress = ({ options }: Redis): string =>
  options.path ?? `${options.host ?? ''}:${options.port ?? ''}`;
