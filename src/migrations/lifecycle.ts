import { type Control, controlState } from '../state/control.ts';

/**
 * The life of a migration, as one pure state machine: what each event does in each state, who may write
 * control, when an epoch is opened, and what producers and workers do in each state and epoch.
 *
 *   none ──run──▶ running ──finish──▶ finished
 *                 │  ▲  ▲                │
 *            stop │  │  └─run, resume, top_up
 *                 ▼  │ run, resume, top_up
 *              stopped
 *   remove: from everything but none and running; nothing leads out of removed.
 *   export: from everything but none and importing, once nobody has the lease; out of moved and importing leads only
 *   the end of an import, or taking it back (move/), to the state from before the export.
 *   pause, cancel: from everything but none and finished. Out of paused lead resume, and run with a manifest
 *   whose limits, key or approval were edited meanwhile; out of cancelled only resume.
 *
 * Staging holds the state (src/state/control.ts) and the epochs; Redis only mirrors both (I4). Events of a producer
 * or a worker carry its epoch, and one that is older than the epoch in force changes nothing (I5).
 */
export const STATES = ['none', 'created', ...controlState.options] as const;

/**
 * `none`: there is no record. `created`: there is a record and no control, as its first producer has not
 * acquired the lease yet. The others are what control holds.
 */
export type State = (typeof STATES)[number];

/** What an operator, or a program in place of one, requests. */
export const REQUESTS = [
  /** Start the migration of a manifest, or continue the one of that name. */
  'run',
  /** The same, with limits, key or approval that are not those of the last epoch: somebody has edited them. */
  'run_edited',
  /** Take what is new in the source into a migration that exists. */
  'top_up',
  /** Continue a migration by its name, whatever ended it. */
  'resume',
  'pause',
  'cancel',
  /** Remove what it keeps of its export. */
  'remove',
  /** Move it to another place. */
  'export',
] as const;
export type Request = (typeof REQUESTS)[number];

/** Something happened to the producer or a worker of an epoch. */
export const INCIDENTS = [
  /** A worker met what an operator has to correct, such as a refused key. */
  'pause_by_worker',
  /** The producer ended early: it was stopped, something was down, or parts failed for good. */
  'stop',
  /** Every record has its outcome, persons and groups are sent, and the report is written. */
  'finish',
  /** The producer found that Redis no longer knows the migration, or not its epoch. */
  'redis_wiped',
  /** A producer or worker found a higher epoch than its own. */
  'superseded',
  /** The lease expired: the producer was killed, or is cut off. No process is left to write anything. */
  'producer_lost',
] as const;
export type Incident = (typeof INCIDENTS)[number];

export type LifeEvent =
  | { readonly kind: Request }
  /** `epoch` is that of the producer or worker it happened to. */
  | { readonly kind: Incident; readonly epoch: number };

export type Transition =
  /** Control is written. With `newEpoch` an epoch is opened first, which supersedes all older ones. */
  | { readonly kind: 'enter'; readonly state: Control['state']; readonly newEpoch: boolean }
  /** Nothing is written; a producer whose event it was ends. */
  | { readonly kind: 'stay' }
  /** Nothing is written; the caller is shown the reason. */
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

export type Refusal =
  | 'no_such_migration'
  /** Paused or cancelled: `run` alone does not continue it. */
  | 'resume_first'
  | 'nothing_to_pause'
  | 'nothing_to_cancel'
  /** What runs cannot be removed. */
  | 'still_running'
  /** Its parts are gone. */
  | 'removed'
  /** It is at another place. */
  | 'moved'
  /** It is not here yet. */
  | 'importing'
  /** An epoch older than the one in force. */
  | 'superseded';

/** `epoch` is the highest that was opened; 0 before the first. */
export interface Life {
  readonly state: State;
  readonly epoch: number;
}

const acquire: Transition = { kind: 'enter', state: 'running', newEpoch: true };
const enter = (state: Control['state']): Transition => ({ kind: 'enter', state, newEpoch: false });
const stay: Transition = { kind: 'stay' };
const refuse = (refusal: Refusal): Transition => ({ kind: 'refuse', refusal });

/** A new state or event does not compile until all of its cells are written. */
const TRANSITIONS: Readonly<Record<State, Readonly<Record<LifeEvent['kind'], Transition>>>> = {
  none: {
    run: acquire,
    run_edited: acquire,
    top_up: refuse('no_such_migration'),
    resume: refuse('no_such_migration'),
    pause: refuse('no_such_migration'),
    cancel: refuse('no_such_migration'),
    remove: refuse('no_such_migration'),
    export: refuse('no_such_migration'),
    pause_by_worker: refuse('no_such_migration'),
    stop: refuse('no_such_migration'),
    finish: refuse('no_such_migration'),
    redis_wiped: refuse('no_such_migration'),
    superseded: refuse('no_such_migration'),
    producer_lost: refuse('no_such_migration'),
  },
  created: {
    run: acquire,
    run_edited: acquire,
    top_up: acquire,
    resume: acquire,
    pause: enter('paused'),
    cancel: enter('cancelled'),
    remove: enter('removed'),
    export: enter('moved'),
    pause_by_worker: enter('paused'),
    stop: stay,
    finish: enter('finished'),
    redis_wiped: acquire,
    superseded: stay,
    producer_lost: stay,
  },
  running: {
    run: acquire,
    run_edited: acquire,
    top_up: acquire,
    resume: acquire,
    pause: enter('paused'),
    cancel: enter('cancelled'),
    remove: refuse('still_running'),
    export: enter('moved'), // of one that was killed: it takes the lease first
    pause_by_worker: enter('paused'),
    stop: enter('stopped'),
    finish: enter('finished'),
    redis_wiped: acquire,
    superseded: stay,
    producer_lost: stay, // shown as interrupted; its workers finish what is open
  },
  stopped: {
    run: acquire,
    run_edited: acquire,
    top_up: acquire,
    resume: acquire,
    pause: enter('paused'),
    cancel: enter('cancelled'),
    remove: enter('removed'),
    export: enter('moved'),
    pause_by_worker: enter('paused'),
    stop: stay,
    finish: enter('finished'),
    redis_wiped: acquire,
    superseded: stay,
    producer_lost: stay,
  },
  paused: {
    run: refuse('resume_first'),
    run_edited: acquire,
    top_up: refuse('resume_first'),
    resume: acquire,
    pause: enter('paused'),
    cancel: enter('cancelled'),
    remove: enter('removed'),
    export: enter('moved'),
    pause_by_worker: enter('paused'),
    stop: stay, // the pause holds, with its reason
    finish: enter('finished'), // it came too late: nothing is left to do
    redis_wiped: stay, // a pause that Redis has forgotten still holds
    superseded: stay,
    producer_lost: stay,
  },
  cancelled: {
    run: refuse('resume_first'),
    run_edited: refuse('resume_first'),
    top_up: refuse('resume_first'),
    resume: acquire,
    pause: enter('paused'),
    cancel: enter('cancelled'),
    remove: enter('removed'),
    export: enter('moved'),
    pause_by_worker: enter('paused'),
    stop: stay,
    finish: enter('finished'),
    redis_wiped: stay,
    superseded: stay,
    producer_lost: stay,
  },
  finished: {
    run: acquire, // reads every receipt again, and finds nothing to send
    run_edited: acquire,
    top_up: acquire,
    resume: acquire,
    pause: refuse('nothing_to_pause'),
    cancel: refuse('nothing_to_cancel'),
    remove: enter('removed'),
    export: enter('moved'),
    pause_by_worker: stay,
    stop: stay,
    finish: stay,
    redis_wiped: refuse('superseded'), // another producer finished it
    superseded: stay,
    producer_lost: stay,
  },
  removed: {
    run: refuse('removed'),
    run_edited: refuse('removed'),
    top_up: refuse('removed'),
    resume: refuse('removed'),
    pause: refuse('nothing_to_pause'),
    cancel: refuse('nothing_to_cancel'),
    remove: enter('removed'), // a removal that was interrupted
    export: enter('moved'),
    pause_by_worker: stay,
    stop: stay,
    finish: stay,
    redis_wiped: refuse('superseded'),
    superseded: stay,
    producer_lost: stay,
  },
  moved: {
    run: refuse('moved'),
    run_edited: refuse('moved'),
    top_up: refuse('moved'),
    resume: refuse('moved'),
    pause: refuse('moved'),
    cancel: refuse('moved'),
    remove: stay, // its objects go, and what marks it as moved stays with the ledger
    export: stay, // an export that was interrupted, or whose file was lost
    pause_by_worker: stay,
    stop: stay,
    finish: stay,
    redis_wiped: refuse('superseded'),
    superseded: stay,
    producer_lost: stay,
  },
  importing: {
    run: refuse('importing'),
    run_edited: refuse('importing'),
    top_up: refuse('importing'),
    resume: refuse('importing'),
    pause: refuse('importing'),
    cancel: refuse('importing'),
    remove: stay,
    export: refuse('importing'),
    pause_by_worker: stay,
    stop: stay,
    finish: stay,
    redis_wiped: refuse('superseded'),
    superseded: stay,
    producer_lost: stay,
  },
};

/** What an event does to a migration. The epoch is compared before the state is looked at. */
export function decide({ state, epoch }: Life, event: LifeEvent): Transition {
  if ('epoch' in event && event.epoch < epoch && state !== 'none') {
    return event.kind === 'superseded' ? stay : refuse('superseded');
  }
  return TRANSITIONS[state][event.kind];
}

export function toState(record: unknown, control: Pick<Control, 'state'> | undefined): State {
  if (control !== undefined) return control.state;
  return record === undefined ? 'none' : 'created';
}

export interface Duties {
  /** `end`: the producer gives the lease back and writes nothing. */
  readonly producer: 'continue' | 'end';
  /** `hand_back`: the worker leaves its job to whoever resumes the migration. */
  readonly worker: 'work' | 'hand_back';
}

const atWork: Duties = { producer: 'continue', worker: 'work' };

/** What a producer and a worker of the epoch in force do once they find this state. */
export const DUTIES: Readonly<Record<State, Duties>> = {
  none: atWork,
  created: atWork,
  running: atWork,
  stopped: { producer: 'continue', worker: 'hand_back' },
  paused: { producer: 'end', worker: 'hand_back' },
  cancelled: { producer: 'end', worker: 'hand_back' },
  finished: atWork,
  removed: { producer: 'end', worker: 'hand_back' },
  moved: { producer: 'end', worker: 'hand_back' },
  importing: { producer: 'end', worker: 'hand_back' },
};

/**
 * An epoch beside the one that Redis knows. `forgotten`: Redis lost its memory; `ahead`: it came back with an older
 * one, from a snapshot or as a replica that lagged behind.
 */
export type Standing = 'in_force' | 'superseded' | 'forgotten' | 'ahead';

export function compareEpoch(own: number, known: number | undefined): Standing {
  if (known === undefined) return 'forgotten';
  if (known === own) return 'in_force';
  return known > own ? 'superseded' : 'ahead';
}

/** What a producer and a worker do once they know how their epoch stands. */
export const EPOCH_DUTIES: Readonly<
  Record<Standing, { readonly producer: Duties['producer'] | 'acquire'; readonly worker: Duties['worker'] }>
> = {
  in_force: atWork,
  superseded: { producer: 'end', worker: 'hand_back' },
  forgotten: { producer: 'acquire', worker: 'hand_back' },
  ahead: { producer: 'acquire', worker: 'hand_back' },
};

/** Where pids mean the same processes. */
export interface Place {
  readonly host: string;
  /** Tells machines and containers apart that have the same host name; undefined where the system does not say. */
  readonly pids?: string;
}

export interface LeaseHolder extends Place {
  readonly pid: number;
}

/**
 * What to do about a lease that another process holds: remove the one of a process of this place that is
 * gone. Nothing is known of the processes of other machines and containers; their leases expire.
 */
export function decideLease(
  holder: LeaseHolder,
  here: Place & { readonly isAlive: (pid: number) => boolean },
): 'remove' | 'refuse' {
  return isSamePlace(holder, here) && !here.isAlive(holder.pid) ? 'remove' : 'refuse';
}

export const isSamePlace = (one: Place, other: Place): boolean =>
  one.host === other.host && one.pids === other.pids;

/** `unknown`: it should run, and Redis cannot say whether it does. */
export type ShownState = Control['state'] | 'interrupted' | 'unknown';

/** The state that people are shown. `leased`: whether a producer holds the lease, undefined where it is unknown. */
export function toShownState(state: State, leased: boolean | undefined): ShownState {
  if (state !== 'none' && state !== 'created' && state !== 'running') return state;
  if (leased === undefined) return 'unknown';
  return leased ? 'running' : 'interrupted';
}

/** A sentence without its full stop; callers add the command that helps. */
export function explainRefusal(
  refusal: Refusal,
  migration: { readonly name: string; readonly state: State; readonly reason: string },
): string {
  const { name, state, reason } = migration;
  switch (refusal) {
    case 'no_such_migration':
      return `there is no migration "${name}"`;
    case 'resume_first':
      return `migration "${name}" is ${state}${reason ? ` (${reason})` : ''}`;
    case 'nothing_to_pause':
      return `migration "${name}" is ${state}; there is nothing to pause`;
    case 'nothing_to_cancel':
      return `migration "${name}" is ${state}; there is nothing to cancel`;
    case 'still_running':
      return `migration "${name}" is ${state}; wait for its end, or cancel it first`;
    case 'removed':
      return `migration "${name}" was removed; give the manifest another name, or remove "${name}" with --forget`;
    case 'moved':
      return `migration "${name}" was moved away (${reason}). Continue it where that file was imported; or bring it back with the file of an export from there, "backhaul state import <file>"; or, if no such file was imported anywhere, with "backhaul state take-back ${name}"`;
    case 'importing':
      return `the import of migration "${name}" has not ended (${reason}); run the same "backhaul state import <file>" again, or remove what is here with "backhaul rm ${name}"`;
    case 'superseded':
      return 'another process has acquired this migration; this one stops, nothing is lost';
  }
}
