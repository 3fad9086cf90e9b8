import {
  type Budget,
  type BudgetClock,
  type RenewablePermit,
  type RenewingBudget,
  SYSTEM_CLOCK,
} from './budget.ts';

/** Of a permit while the others are waited for. The budgets that are combined count each permit for as much longer. */
const FRESH_MS = 1_000;
/** What permits of combined budgets may be older than those of one, when their request begins. */
export const COMBINED_DELAY_MS = 2 * FRESH_MS;

interface Held {
  readonly budget: RenewingBudget;
  permit: RenewablePermit | undefined;
  /** When it was taken or renewed. */
  grantedMs: number;
}

/**
 * Several budgets that all count the same events: one permit is a permit of each. A budget that has to be waited for
 * makes the permits of the others old. These are renewed: given back and taken again, each would cost its budget as much
 * as a request, and be old again once the next one is granted.
 */
export function combineBudgets(
  budgets: readonly RenewingBudget[],
  clock: BudgetClock = SYSTEM_CLOCK,
): Budget {
  const [only] = budgets;
  if (only && budgets.length === 1) return only;

  const isFresh = ({ permit, grantedMs }: Held) =>
    permit !== undefined && clock.now() - grantedMs <= FRESH_MS;
  const giveBack = async (held: Held) => {
    const { permit } = held;
    held.permit = undefined;
    await permit?.settle();
  };

  return {
    eventsPerPermit: Math.min(...budgets.map(({ eventsPerPermit }) => eventsPerPermit)),

    async take(events, signal) {
      const all = budgets.map((budget): Held => ({ budget, permit: undefined, grantedMs: 0 }));
      try {
        for (let held = all.find((one) => !isFresh(one)); held; held = all.find((one) => !isFresh(one))) {
          if (!(await held.permit?.renew(signal))) {
            await giveBack(held);
            held.permit = await held.budget.take(events, signal);
          }
          held.grantedMs = clock.now();
        }
      } catch (error) {
        await Promise.all(all.map(giveBack));
        throw error;
      }
      const permits = all.map(({ permit }) => permit);
      return {
        async settle() {
          await Promise.all(permits.flatMap((permit) => (permit ? [permit.settle()] : [])));
        },
      };
    },

    async slowDown(ms) {
      await Promise.all(budgets.map((budget) => budget.slowDown(ms)));
    },
  };
}
