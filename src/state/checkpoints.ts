import type { Redis } from 'ioredis';
import { type Checkpoint, checkpoint as checkpointSchema } from '../contract/progress.ts';
import { FencedOutError, getMessage, UnavailableError } from '../lib/errors.ts';

/**
 * Checkpoints live in Redis, where a fencing token can be compared and the record replaced in one
 * step. They only save work: a checkpoint that is gone restarts its part (I1, I4).
 *
 * The token is (epoch, counter). The epoch is counted in staging whenever a producer acquires the lease, so it
 * still orders writers after Redis was wiped; the counter orders the workers of one epoch (I5).
 */
export interface Checkpoints {
  /** Takes the part over: its previous holder can no longer save. */
  begin(part: string): Promise<{ fence: Fence; checkpoint: Checkpoint | undefined }>;
  /** FencedOutError when a newer writer holds the part or a higher epoch is in force. */
  save(fence: Fence, checkpoint: Checkpoint): Promise<void>;
  /** Deletes the checkpoint of a part that has its receipt; its counter stays, so that no fence is issued twice. */
  forget(fence: Fence): Promise<void>;
}

export interface Fence {
  readonly part: string;
  readonly epoch: number;
  readonly counter: number;
}

/** All keys of Backhaul share one hash tag, so that scripts over several keys work on a cluster. */
export const migrationKey = (migrationId: string) => `{bh}:migration:${migrationId}`;

/** Held by the process that runs the migration (`src/migrations/run/lease.ts`). */
export const leaseKey = (migrationId: string) => `${migrationKey(migrationId)}:producer`;

const MIRROR = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'control_number') or '0') >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'control', ARGV[1], 'control_number', ARGV[2])
return 1`;

/**
 * Copies to Redis what control in staging holds already, so that workers learn of it now and not when they
 * read staging next. A migration that this Redis does not know has no workers. Does nothing where a newer state
 * was copied: whoever sleeps between the two steps must not stop what was resumed meanwhile.
 */
export async function mirrorControl(
  redis: Redis,
  migrationId: string,
  { state, number }: { readonly state: string; readonly number: number },
): Promise<void> {
  await redis.eval(MIRROR, 1, migrationKey(migrationId), state, number);
}

/** Throws FencedOutError unless the epoch is the one in force (I5). */
export async function assertEpochInForce(redis: Redis, migrationId: string, epoch: number): Promise<void> {
  const known = await redis.hget(migrationKey(migrationId), 'epoch').catch((error: unknown) => {
    throw new UnavailableError(
      `Redis did not name the epoch in force: ${getMessage(error)}`,
      'backoff',
      error,
    );
  });
  if (known === String(epoch)) return;
  throw new FencedOutError(
    `the migration is at epoch ${known ?? 'none'}, this job belongs to epoch ${epoch}`,
  );
}

const partKey = (migrationId: string, part: string) => `${migrationKey(migrationId)}:part:${part}`;

const BEGIN = `
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if not epoch or epoch ~= ARGV[1] then return {0, epoch} end
local counter = redis.call('HINCRBY', KEYS[2], 'counter', 1)
if redis.call('PTTL', KEYS[2]) > 0 then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return {1, counter, redis.call('HGET', KEYS[2], 'checkpoint')}`;

const SAVE = `
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
if redis.call('HGET', KEYS[2], 'counter') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], 'checkpoint', ARGV[3])
return 1`;

const FORGET = `
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
if redis.call('HGET', KEYS[2], 'counter') ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[2], 'checkpoint')
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1`;

/** Undefined where another version wrote what this one does not know: the part starts over. */
function parseCheckpoint(stored: string | null): Checkpoint | undefined {
  try {
    return stored === null ? undefined : checkpointSchema.parse(JSON.parse(stored));
  } catch {
    return undefined;
  }
}

/** Every checkpoint that Redis has of a migration, with the epoch and counter of its last holder. */
export async function* listCheckpoints(
  redis: Redis,
  migrationId: string,
): AsyncGenerator<{ readonly fence: Fence; readonly checkpoint: Checkpoint }> {
  const epoch = Number(await redis.hget(migrationKey(migrationId), 'epoch'));
  if (!(epoch > 0)) return;
  for await (const keys of scanParts(redis, migrationId)) {
    for (const key of keys) {
      const [counter, stored = null] = await redis.hmget(key, 'counter', 'checkpoint');
      const found = parseCheckpoint(stored);
      if (found) yield { fence: { part: found.part, epoch, counter: Number(counter) }, checkpoint: found };
    }
  }
}

/** Drops what Redis remembers of parts that went on elsewhere; counters stay, so that no fence is issued twice. */
export async function dropCheckpoints(redis: Redis, migrationId: string): Promise<void> {
  for await (const keys of scanParts(redis, migrationId))
    for (const key of keys) await redis.hdel(key, 'checkpoint');
}

const scanParts = (redis: Redis, migrationId: string) =>
  redis.scanStream({ match: partKey(migrationId, '*'), count: 1_000 }) as AsyncIterable<string[]>;

/** Counters of finished parts outlive every worker that could still hold one of their fences. */
const COUNTER_KEPT_MS = 30 * 24 * 3600 * 1000;

export function createRedisCheckpoints(redis: Redis, migrationId: string, epoch: number): Checkpoints {
  const evaluate = (what: string, script: string, part: string, ...values: (string | number)[]) =>
    redis
      .eval(script, 2, migrationKey(migrationId), partKey(migrationId, part), ...values)
      .catch((error: unknown) => {
        // Whether Redis is away or replies READONLY, OOM or LOADING: it may work again later.
        throw new UnavailableError(
          `Redis did not ${what} of part ${part}: ${getMessage(error)}`,
          'backoff',
          error,
        );
      });
  const fenced = (
    what: string,
    script: string,
    { part, epoch: of, counter }: Fence,
    value: string | number,
  ) => evaluate(what, script, part, of, counter, value);

  return {
    async begin(part) {
      const reply = await evaluate('load the checkpoint', BEGIN, part, epoch, COUNTER_KEPT_MS);
      const [granted, value, stored] = reply as [number, number | string | null, string | null];
      if (granted !== 1) {
        throw new FencedOutError(
          `part ${part}: the migration is at epoch ${value ?? 'none'}, this job belongs to epoch ${epoch}`,
        );
      }
      return { fence: { part, epoch, counter: Number(value) }, checkpoint: parseCheckpoint(stored) };
    },

    async save(fence, checkpoint) {
      if ((await fenced('save the checkpoint', SAVE, fence, JSON.stringify(checkpoint))) !== 1) {
        throw new FencedOutError(`part ${fence.part}: a newer writer holds it`);
      }
    },

    async forget(fence) {
      await fenced('forget the checkpoint', FORGET, fence, COUNTER_KEPT_MS);
    },
  };
}
