import type { Redis } from 'ioredis';
import type { SendCondition } from '../../../contract/delivery.ts';
import { FencedOutError } from '../../../lib/errors.ts';
import type { LedgerAccess } from '../../../state/ledger/ledger.ts';
import { ledgerLockKey, parseHolder } from './ledger-lock.ts';
import { noteRequest, type TurnOf } from './on-wire.ts';

type LedgerKeys = Pick<LedgerAccess, 'id' | 'key'>;

/** For workers: throws FencedOutError unless the migration has the ledger, and this turn. */
export async function assertHasLedger(
  redis: Redis,
  ledger: LedgerKeys,
  of: Pick<TurnOf, 'migration' | 'turn'>,
): Promise<void> {
  const { id, key = id } = ledger;
  assertHeldBy(await redis.mget(ledgerLockKey(id), ledgerLockKey(key)), ledger, of);
}

/** Of the two locks of a project another migration may have taken the one of the key alone. */
function assertHeldBy(
  held: readonly (string | null | undefined)[],
  { id, key = id }: LedgerKeys,
  { migration, turn }: Pick<TurnOf, 'migration' | 'turn'>,
): void {
  const [inner, outer] = [id, key].map((lock, index) => {
    const text = held[index] ?? null;
    return text === null ? undefined : parseHolder(text, ledgerLockKey(lock));
  });
  if (inner?.migration === migration && outer?.migration === migration && (inner.turn ?? turn) === turn)
    return;
  throw new FencedOutError('the migration does not have the lock of its ledger');
}

/** Both in ms. The monotonic one may stand still while the machine sleeps, the other one may be set. */
export interface Clocks {
  readonly monotonic: () => number;
  readonly wall: () => number;
}

const SYSTEM_CLOCKS: Clocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** Counted from before Redis is asked, so that a process that slept over the answer asks again. */
const ANSWER_HOLDS_MS = 2_000;

/**
 * Under which anything about persons is sent: the migration has the ledger, and this turn of it. A batch may wait for
 * minutes, for a permit or between two attempts, and another migration may decide and send in the meantime. `assert`
 * notes the request as being on the wire, and throws FencedOutError.
 */
export function createLedgerCondition(
  redis: Redis,
  ledger: LedgerKeys,
  of: TurnOf,
  { monotonic, wall }: Clocks = SYSTEM_CLOCKS,
): SendCondition {
  return {
    scope: `turn ${of.turn}`,
    async assert() {
      for (;;) {
        const asked = { monotonic: monotonic(), wall: wall() };
        const { locks, end } = await noteRequest(redis, ledger, of);
        try {
          assertHeldBy(locks, ledger, of);
        } catch (error) {
          end();
          throw error;
        }
        const agesMs = [monotonic() - asked.monotonic, Math.abs(wall() - asked.wall)];
        if (Math.max(...agesMs) <= ANSWER_HOLDS_MS) return end;
        end();
      }
    },
  };
}
