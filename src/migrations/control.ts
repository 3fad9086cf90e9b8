import { getMessage } from '../lib/errors.ts';
import { mirrorControl } from '../state/checkpoints.ts';
import { applyEvent, RefusedError, requireMigration } from './life-store.ts';
import type { MigrationStore } from './migration-runtime.ts';

export type ControlResult =
  | {
      readonly kind: 'done';
      readonly state: 'paused' | 'cancelled';
      /** ISO 8601. */
      readonly at: string;
      /** Why Redis could not be reached: workers then read the state in staging, somewhat later. */
      readonly redisProblem: string | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: RefusedError['refusal']; readonly reason: string };

/** Stops a migration at the next batch, until it is resumed. `reason` is shown with its status. */
export const pauseMigration = (store: MigrationStore, name: string, reason: string): Promise<ControlResult> =>
  hold(store, name, 'paused', reason);

/** The same for a migration that is not wanted any more; what was delivered stays. */
export const cancelMigration = (
  store: MigrationStore,
  name: string,
  reason: string,
): Promise<ControlResult> => hold(store, name, 'cancelled', reason);

const EVENTS = { paused: 'pause', cancelled: 'cancel' } as const;

/** Staging first, so that it holds whatever happens to Redis; then Redis, so that workers learn of it now. */
async function hold(
  { staging, now, askRedis }: MigrationStore,
  name: string,
  state: 'paused' | 'cancelled',
  reason: string,
): Promise<ControlResult> {
  const at = now().toISOString();
  try {
    const record = await requireMigration(staging, name);
    const entered = await applyEvent(staging, record, { kind: EVENTS[state] }, { reason, at });
    const redisProblem = await askRedis(async (redis) => {
      if (entered.kind === 'enter') await mirrorControl(redis, record.id, entered);
    }).then(() => undefined, getMessage);
    return { kind: 'done', state, at, redisProblem };
  } catch (error) {
    if (error instanceof RefusedError)
      return { kind: 'refused', refusal: error.refusal, reason: error.message };
    throw error;
  }
}
