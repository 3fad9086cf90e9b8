import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Staging } from '../../contract/staging.ts';
import { type BudgetClock, SYSTEM_CLOCK } from '../../deliver/budget.ts';
import { type CountClaim, openKeeper } from '../../deliver/redis-budget.ts';
import { PausedError } from '../../lib/errors.ts';
import {
  type CountClaimMark,
  createCountClaim,
  loadCountClaim,
  replaceCountClaim,
} from '../../state/destination-marks.ts';
import { toBudgetName } from './agree-on-count.ts';

/** Whoever sends renews the claim of its Redis so often. */
const RENEW_MS = 10_000;
/** A claim that nobody renewed for so long covers no event of the last window: its Redis is gone, or at rest. */
const AT_REST_MS = 60_060 + RENEW_MS;
/** What was on its way to staging when Redis lost its memory has arrived by then. */
const LATE_MS = 30_000;
/** After taking a claim over: whoever took it over at the same moment is seen by then. */
const SETTLE_MS = 2_000;

export interface ClaimDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  /** @default the time of this process */
  readonly clock?: Pick<BudgetClock, 'now'>;
}

/**
 * Two Redis that count what is sent from one staging would each let the whole budget through. So staging names the
 * one that counts, and senders renew that every few seconds. A Redis that finds the claim of another one watches it
 * for a window: renewed, the other counts now, and the migration pauses; not renewed, the other is gone, or is this one
 * before it lost its memory, and its claim is taken over. A sender that rested meanwhile finds that out before it
 * sends again. Compares what it reads with what it read before, and no clocks.
 */
export function claimCount(
  { staging, redis, clock = SYSTEM_CLOCK }: ClaimDeps,
  budgetKey: string,
): CountClaim {
  const name = toBudgetName(budgetKey);
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  let foreign: { keeper: string; renewal: string; firstMs: number; sinceMs: number } | undefined;

  async function watch(claim: CountClaimMark, own: CountClaimMark): Promise<number> {
    const nowMs = clock.now();
    if (foreign?.keeper !== claim.keeper) foreign = { ...claim, firstMs: nowMs, sinceMs: nowMs };
    if (foreign.renewal !== claim.renewal) {
      if (nowMs - foreign.firstMs >= LATE_MS) throw new PausedError(explainOther(staging.location));
      foreign = { ...foreign, renewal: claim.renewal, sinceMs: nowMs };
    }
    const leftMs = foreign.sinceMs + AT_REST_MS - nowMs;
    if (leftMs > 0) return Math.min(leftMs, RENEW_MS);
    await replaceCountClaim(staging, name, own);
    foreign = undefined;
    return SETTLE_MS;
  }

  return {
    async check(isLost = false) {
      if (!foreign && !isLost && clock.now() - renewedAtMs < RENEW_MS) return 0;
      const own = { keeper: await openKeeper(redis, budgetKey), renewal: randomUUID() };
      const atMs = clock.now();
      let claim = await loadCountClaim(staging, name);
      if (!claim && !(await createCountClaim(staging, name, own)))
        claim = await loadCountClaim(staging, name);
      if (claim && claim.keeper !== own.keeper) {
        renewedAtMs = Number.NEGATIVE_INFINITY;
        return watch(claim, own);
      }
      foreign = undefined;
      if (claim) await replaceCountClaim(staging, name, own);
      renewedAtMs = atMs;
      return 0;
    },
  };
}

const explainOther = (location: string) =>
  `another Redis counts what is sent to this destination from ${location} at the same time, and both together would exceed limits.eventsPerMinute: give all processes of this staging the same REDIS_URL, or continue when the other migration has ended`;
