import type { Staging } from '../contract/staging.ts';
import { ConfigError, FencedOutError } from '../lib/errors.ts';
import {
  addHold,
  type Control,
  listMigrations,
  loadControl,
  loadHoldSince,
  loadLatestEpochNumber,
  loadLatestHoldNumber,
  loadMigration,
  type MigrationRecord,
  saveControl,
} from '../state/migrations.ts';
import {
  decide,
  explainRefusal,
  type LifeEvent,
  type Refusal,
  type Transition,
  toState,
} from './lifecycle.ts';

/** The lifecycle or the lease refuses what was asked for. The message says why. */
export class RefusedError extends ConfigError {
  readonly refusal: Refusal | 'already_running';
  constructor(refusal: RefusedError['refusal'], message: string) {
    super(message);
    this.refusal = refusal;
  }
}

/**
 * Asks the lifecycle what an event does to a migration that exists, and writes control where it enters a
 * state. Opens no epoch: acquireLease does. Throws RefusedError, and FencedOutError when the event is one of
 * an epoch that is no longer in force.
 *
 * Others may write control between the question and the answer, and staging cannot compare as it writes. So a
 * pause or cancel writes control, then creates a mark of its own, and then looks whether control still says so;
 * whoever writes `running` or `stopped` notes the marks before it asks and looks for new ones after it wrote.
 * Whichever of the two comes first, the other sees it, and what an operator was told holds.
 */
export async function applyEvent(
  staging: Staging,
  name: string,
  event: LifeEvent,
  { reason, at }: { readonly reason: string; readonly at: string },
): Promise<Exclude<Transition, { kind: 'refuse' }>> {
  const holds = await loadLatestHoldNumber(staging, name);
  const transition = await decideStored(staging, name, event);
  if (transition.kind !== 'enter') return transition;
  const control = { state: transition.state, reason, at };
  await saveControl(staging, name, control);
  if (control.state === 'paused' || control.state === 'cancelled') await keepHold(staging, name, control);
  else if (control.state === 'stopped' && (await yieldToHold(staging, name, holds))) return { kind: 'stay' };
  return transition;
}

/** Sees to it that a pause or cancel is not overwritten by whoever decided before it. */
async function keepHold(staging: Staging, name: string, hold: Control): Promise<void> {
  await addHold(staging, name, hold);
  const state = (await loadControl(staging, name))?.state;
  if (state === 'running' || state === 'stopped') await saveControl(staging, name, hold);
}

/**
 * For those who wrote `running` or `stopped`: a pause or cancel that came after number `since` is written to
 * control again, and returned.
 */
export async function yieldToHold(
  staging: Staging,
  name: string,
  since: number,
): Promise<Control | undefined> {
  const hold = await loadHoldSince(staging, name, since);
  if (hold) await saveControl(staging, name, hold);
  return hold;
}

/** The same without writing. */
export async function decideStored(
  staging: Staging,
  name: string,
  event: LifeEvent,
): Promise<Exclude<Transition, { kind: 'refuse' }>> {
  const control = await loadControl(staging, name);
  const state = toState({}, control);
  const epoch = 'epoch' in event ? await loadLatestEpochNumber(staging, name) : 0;
  const transition = decide({ state, epoch }, event);
  if (transition.kind !== 'refuse') return transition;
  const { refusal } = transition;
  const message = explainRefusal(refusal, { name, state, reason: control?.reason ?? '' });
  throw refusal === 'superseded' ? new FencedOutError(message) : new RefusedError(refusal, message);
}

/** Throws RefusedError with the migrations that there are: a name is most often mistyped, or of another data folder. */
export async function requireMigration(staging: Staging, name: string): Promise<MigrationRecord> {
  const record = await loadMigration(staging, name);
  if (record) return record;
  const refusal = 'no_such_migration';
  const names = await listMigrations(staging);
  const others = names.length > 0 ? `there are: ${names.join(', ')}` : 'there are none yet';
  throw new RefusedError(
    refusal,
    `${explainRefusal(refusal, { name, state: 'none', reason: '' })} in ${staging.location}; ${others}. Check the name, BACKHAUL_DATA_DIR and BACKHAUL_STAGING`,
  );
}
