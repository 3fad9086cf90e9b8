import type { Redis } from 'ioredis';
import type { Standing } from '../../contract/delivery.ts';
import { raceAbort } from '../../lib/async/abort.ts';
import { FencedOutError, getMessage, UnavailableError } from '../../lib/errors.ts';
import { leaseKey, migrationKey } from '../../state/checkpoints.ts';
import { type Control, controlState } from '../../state/control.ts';
import { compareEpoch, DUTIES, EPOCH_DUTIES } from '../lifecycle.ts';

/** What Redis said counts for as long: a third of the time after which the job of a process that sleeps is taken from it. */
const FRESH_MS = 10_000;

export interface StandingClocks {
  /** In ms; it never goes back, and may stand still while the machine sleeps. */
  readonly monotonic: () => number;
  readonly wall: () => number;
}

const SYSTEM_CLOCKS: StandingClocks = { monotonic: () => performance.now(), wall: () => Date.now() };

export interface WatchedStanding extends Standing {
  /** Asks Redis now. Why nothing may be sent any more; undefined where it may. */
  look(): Promise<string | undefined>;
}

/**
 * Whether events of a migration may be sent in an epoch, by what Redis said last and how long ago. A process that slept
 * knows by its clocks that it has to ask again.
 */
export function watchStanding(
  redis: Redis,
  { id, epoch }: { readonly id: string; readonly epoch: number },
  clocks = SYSTEM_CLOCKS,
): WatchedStanding {
  let seen = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

  const look = async () => {
    const asked = { monotonic: clocks.monotonic(), wall: clocks.wall() };
    const [known, control] = await redis.hmget(migrationKey(id), 'epoch', 'control');
    const why = explainEnd(epoch, known, controlState.safeParse(control).data);
    if (why === undefined) seen = asked;
    return why;
  };

  return {
    look,
    isKnown: () =>
      clocks.monotonic() - seen.monotonic <= FRESH_MS && Math.abs(clocks.wall() - seen.wall) <= FRESH_MS,
    async assert(signal) {
      const why = await raceAbort(orUnavailable(look()), signal);
      if (why !== undefined) throw new FencedOutError(why);
    },
  };
}

/** The epoch in force, and how one's own stands to it. */
export async function loadStanding(
  redis: Pick<Redis, 'hget'>,
  { id, epoch }: { readonly id: string; readonly epoch: number },
) {
  const known = await orUnavailable(redis.hget(migrationKey(id), 'epoch'));
  return { known, standing: compareEpoch(epoch, known === null ? undefined : Number(known)) };
}

/** Whether a producer drives a migration. */
export const isLeased = async (redis: Pick<Redis, 'exists'>, id: string): Promise<boolean> =>
  (await orUnavailable(redis.exists(leaseKey(id)))) === 1;

/** As of a checkpoint that is not saved: it may work again later, and fails no part. */
const orUnavailable = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw new UnavailableError(
      `Redis did not say whether the migration still runs: ${getMessage(error)}`,
      'backoff',
      error,
    );
  });

/** A Redis that forgot the migration, or knows an older epoch, says nothing: the producer opens a new one. */
function explainEnd(
  epoch: number,
  known: string | null | undefined,
  state: Control['state'] | undefined,
): string | undefined {
  const standing = compareEpoch(epoch, known == null ? undefined : Number(known));
  if (standing === 'superseded' && EPOCH_DUTIES[standing].worker === 'hand_back')
    return `epoch ${epoch} is over`;
  return state !== undefined && DUTIES[state].worker === 'hand_back'
    ? `the migration is ${state}`
    : undefined;
}
