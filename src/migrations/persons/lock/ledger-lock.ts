import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { raceAbort, waitFor } from '../../../lib/async/abort.ts';
import { ConfigError } from '../../../lib/errors.ts';
import type { LedgerAccess } from '../../../state/ledger/ledger.ts';
import { decideLease, type LeaseHolder } from '../../lifecycle.ts';
import { lookAtLock } from '../../run/look-at-lock.ts';
import { isRunning, THIS_PLACE } from '../../run/this-place.ts';

/*
 * The lock of a ledger: one migration at a time decides and sends about the persons of a destination, so that an
 * older value never arrives behind a newer one. That no merge is decided on what is out of date is held by the
 * versions of the ledger's buckets, which a holder that lost the lock cannot create; and what was decided in one turn
 * is not sent in another: a lock that expired is not renewed, as others may have had a turn, and it names its turn.
 */

const LOCK_MS = 15_000;
const RENEW_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 500;

export interface Holder extends LeaseHolder {
  /** Id of the migration. */
  readonly migration: string;
  readonly name: string;
  readonly token: string;
  /** 0 before it is opened, undefined in locks of earlier versions. */
  readonly turn?: number | undefined;
}

/** The lock expired, and another migration may have had a turn. */
export class LedgerLockLostError extends Error {}

export interface LedgerLock {
  /** Throws LedgerLockLostError. */
  assertHeld(): Promise<void>;
  /** What is sent from now on is of this turn. Throws LedgerLockLostError. */
  enterTurn(turn: number): Promise<void>;
  release(): Promise<void>;
}

export const ledgerLockKey = (ledger: string) => `{bh}:ledger:${ledger}`;

const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

export interface LedgerLockDeps {
  readonly redis: Redis;
  readonly migration: { readonly id: string; readonly name: string };
  /** Throws when the run must end; called while the lock is waited for. */
  readonly assertRunning: () => Promise<void>;
  /** Called once, with the name of the migration that is waited for. */
  readonly onWait: (holder: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Waits until no other migration has the ledger. Where Redis is away, commands have no answer until it is back, and it
 * may have ended for good with the process that ran it: so nothing is waited for longer than the signal allows.
 */
export async function takeLedgerLock(
  ledger: string,
  { redis, migration, assertRunning, onWait, signal }: LedgerLockDeps,
): Promise<LedgerLock> {
  const key = ledgerLockKey(ledger);
  const { id, name } = migration;
  // Until its turn is known, a worker that slept since an earlier one sends nothing.
  const holder: Holder = {
    ...THIS_PLACE,
    pid: process.pid,
    migration: id,
    name,
    token: randomUUID(),
    turn: 0,
  };
  let self = JSON.stringify(holder);
  const set = () => {
    const asked = redis.set(key, self, 'PX', LOCK_MS, 'NX');
    return raceAbort(asked, signal).catch((error: unknown) => {
      // The answer may come after the abort: nobody else would let go of the lock.
      asked.then(() => redis.eval(RELEASE, 1, key, self)).catch(() => {});
      throw error;
    });
  };
  for (let waits = 0; (await set()) !== 'OK'; ) {
    const held = await raceAbort(lookAtLock(redis, key, LOCK_MS), signal);
    if (held === null) continue;
    const other = parseHolder(held, key);
    // An earlier producer of this migration is fenced out by its epoch.
    const here = { ...THIS_PLACE, isAlive: isRunning };
    if (other.migration === id || decideLease(other, here) === 'remove') {
      await raceAbort(redis.eval(RELEASE, 1, key, held), signal);
      continue;
    }
    if (waits === 0) onWait(other.name);
    waits += 1;
    await waitFor(LOOK_EVERY_MS, signal);
    await raceAbort(assertRunning(), signal);
  }

  const renew = (as = self) => redis.eval(RENEW, 1, key, self, as, String(LOCK_MS));
  const assertRenewed = async (renewed: Promise<unknown>) => {
    if ((await raceAbort(renewed, signal)) !== 1)
      throw new LedgerLockLostError(`the lock of ledger ${ledger} was lost`);
  };
  const renewing = setInterval(() => void renew().catch(() => {}), RENEW_EVERY_MS).unref();
  return {
    assertHeld: () => assertRenewed(renew()),
    async enterTurn(turn) {
      const next = JSON.stringify({ ...holder, turn });
      const renewed = renew(next);
      // Whatever the answer, and whether or not it is waited for: who lost the lock has neither.
      self = next;
      await assertRenewed(renewed);
    },
    async release() {
      clearInterval(renewing);
      await redis.eval(RELEASE, 1, key, self);
    },
  };
}

/**
 * The lock of a ledger, behind that of the project key: where only one of two manifests names the project, they have
 * two ledgers, and an older value that one sends could arrive behind a newer one of the other.
 */
export async function takeProjectLock(
  { id, key = id }: Pick<LedgerAccess, 'id' | 'key'>,
  deps: LedgerLockDeps,
): Promise<LedgerLock> {
  if (key === id) return takeLedgerLock(id, deps);
  const outer = await takeLedgerLock(key, deps);
  try {
    const inner = await takeLedgerLock(id, deps);
    return {
      async assertHeld() {
        await outer.assertHeld();
        await inner.assertHeld();
      },
      enterTurn: (turn) => inner.enterTurn(turn),
      async release() {
        await inner.release();
        await outer.release();
      },
    };
  } catch (error) {
    await outer.release().catch(() => {});
    throw error;
  }
}

const ledgerHolder = z.object({
  migration: z.string(),
  name: z.string(),
  token: z.string(),
  host: z.string(),
  /** Absent in locks of earlier versions. */
  pids: z.string().exactOptional(),
  pid: z.number(),
  turn: z.number().optional(),
});

export function parseHolder(text: string, key: string): Holder {
  try {
    return ledgerHolder.parse(JSON.parse(text));
  } catch (error) {
    throw new ConfigError(
      `Redis holds a lock under ${key} that Backhaul did not write; delete that key (redis-cli del "${key}") and run the command again`,
      error,
    );
  }
}
