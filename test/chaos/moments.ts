import { it } from 'vitest';
import { ALL } from '../support/form.ts';
import { createRandom } from '../support/seeded-random.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { LAB_TIMEOUT_MS, type Lab } from './lab.ts';
import type { Scenario } from './scenarios.ts';

/**
 * BACKHAUL_TEST_MOMENTS=20 tries that many moments of each kind, in more than half an hour, instead of one.
 * BACKHAUL_TEST_SEED draws others.
 */
export const MOMENTS = Number(process.env['BACKHAUL_TEST_MOMENTS'] ?? 1);

/** A run that ended before its moment came proves little, and tells how long runs really take. */
const TRIES = 3;

export interface MomentOptions {
  /** Whether `npm test` runs the kind, too, and not only the long form. @default false */
  readonly smoke?: boolean;
}

/**
 * One test a moment. The moment is a share of what the uninterrupted run takes, drawn from one of equal
 * strata; `id` tells the kinds apart.
 */
export function atRandomMoments(
  title: string,
  id: string,
  lab: () => Lab,
  act: Scenario,
  { smoke = false }: MomentOptions = {},
): void {
  const random = createRandom(
    TEST_SEED * 1_000 + [...id].reduce((sum, letter) => sum * 7 + letter.charCodeAt(0), 0),
  );
  const shares = Array.from({ length: MOMENTS }, (_, index) => (index + random()) / MOMENTS);
  it.runIf(smoke || ALL).each(shares.map((share) => [share.toFixed(3), share] as const))(
    `${title}, at %s of the run`,
    async (text, share) => {
      for (let tries = 1; tries <= TRIES; tries += 1) {
        const { missed } = lab().moments;
        const bench = await lab().open(`${id}-${text}${tries === 1 ? '' : `-${tries}`}`);
        await act(bench, share);
        if (lab().moments.missed === missed) return;
      }
    },
    TRIES * LAB_TIMEOUT_MS,
  );
}
