import type { Staging } from '../contract/staging.ts';
import { ConfigError, FencedOutError } from '../lib/errors.ts';
import { findHalfImported } from '../state/archive/imports.ts';
import { addControl, type Control, loadNewestControl } from '../state/control.ts';
import { loadLatestEpochNumber } from '../state/epochs.ts';
import { layout, parseRecordKey } from '../state/keys/migration.ts';
import { listMigrations, loadMigration, type MigrationRecord, type Named } from '../state/migrations.ts';
import { loadLastRun } from '../state/schedules/runs.ts';
import { isScheduled } from '../state/schedules/schedules.ts';
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

/** What an event did, and the number of the state that it entered. */
export type Applied =
  | { readonly kind: 'stay' }
  | { readonly kind: 'enter'; readonly state: Control['state']; readonly number: number };

/**
 * Asks the lifecycle what an event does to a migration that exists, and writes control where it enters a
 * state. Opens no epoch: acquireLease does. Throws RefusedError, and FencedOutError when the event is one of
 * an epoch that is no longer in force. Where others wrote control between the question and the answer, the
 * lifecycle is asked again.
 */
export async function applyEvent(
  staging: Staging,
  record: Pick<MigrationRecord, 'name' | 'id'>,
  event: LifeEvent,
  why: Pick<Control, 'reason' | 'at' | 'keepsRejects'>,
): Promise<Applied> {
  const of = 'epoch' in event ? { epoch: event.epoch } : {};
  for (;;) {
    const before = await loadNewestControl(staging, record);
    const transition = await decideStored(staging, record, event, before.control);
    if (transition.kind !== 'enter') return transition;
    const { state } = transition;
    const number = before.number + 1;
    if (await addControl(staging, record, { number, control: { state, ...why, ...of } }))
      return { kind: 'enter', state, number };
  }
}

/** The same without writing. */
export async function decideStored(
  staging: Staging,
  of: Named,
  event: LifeEvent,
  control: Control | undefined,
): Promise<Exclude<Transition, { kind: 'refuse' }>> {
  const state = toState({}, control);
  const epoch = 'epoch' in event ? await loadLatestEpochNumber(staging, of) : 0;
  const transition = decide({ state, epoch }, event);
  if (transition.kind !== 'refuse') return transition;
  const { refusal } = transition;
  const name = typeof of === 'string' ? of : of.name;
  const message = explainRefusal(refusal, { name, state, reason: control?.reason ?? '' });
  throw refusal === 'superseded' ? new FencedOutError(message) : new RefusedError(refusal, message);
}

/** Throws RefusedError with the migrations that there are: a name is most often mistyped, or of another data folder. */
export async function requireMigration(staging: Staging, name: string): Promise<MigrationRecord> {
  const isName = parseRecordKey(layout(name).record) !== undefined;
  const record = isName ? await loadMigration(staging, name) : undefined;
  if (record) return record;
  const half = isName ? await findHalfImported(staging, name) : undefined;
  if (half) throw new RefusedError('importing', explainRefusal('importing', { ...half, state: 'importing' }));
  const refusal = 'no_such_migration';
  const none = explainRefusal(refusal, { name, state: 'none', reason: '' });
  if (isName && (await isScheduled(staging, name))) {
    const ran =
      (await loadLastRun(staging, name)).number === 0 ? 'has not run yet' : 'has imported nothing yet';
    throw new RefusedError(
      refusal,
      `${none} in ${staging.location} yet: a schedule of that name is there, which ${ran}. "backhaul schedule ls" says when it runs`,
    );
  }
  const names = await listMigrations(staging);
  const others = names.length > 0 ? `there are: ${names.join(', ')}` : 'there are none yet';
  throw new RefusedError(
    refusal,
    `${none} in ${staging.location}; ${others}. Check the name, BACKHAUL_DATA_DIR and BACKHAUL_STAGING`,
  );
}
