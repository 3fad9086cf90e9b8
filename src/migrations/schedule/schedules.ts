import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { nextOccurrence } from '../../lib/cron.ts';
import { ConfigError, getMessage, SourceError } from '../../lib/errors.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { loadControl } from '../../state/control.ts';
import { loadLastRun, type ScheduledRun } from '../../state/schedules/runs.ts';
import {
  addSchedule,
  listScheduled,
  loadNewestSchedule,
  type Schedule,
} from '../../state/schedules/schedules.ts';
import { decide, type State, toState } from '../lifecycle.ts';
import type { ManifestAt } from '../manifest/stored-manifest.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { findRunning } from './claim.ts';
import { findDue } from './find-due.ts';

type ScheduleStore = Pick<MigrationStore, 'staging' | 'now'>;
type ViewStore = Pick<MigrationStore, 'staging' | 'now' | 'askRedis'>;

/** What a manifest says under `schedule`. */
export type ScheduleBlock = NonNullable<Manifest['schedule']>;

export interface ScheduleView {
  readonly migration: string;
  /** `damaged`: staging holds something else than was written there. */
  readonly state: 'active' | 'paused' | 'damaged';
  /** The state of its migration, where that keeps an active schedule from running it. */
  readonly held?: State;
  readonly reason: string;
  readonly cron: string;
  readonly timezone: string;
  readonly lagMinutes: number;
  /** ISO 8601; absent while it is paused. */
  readonly next?: string;
  /** Since when a run is due that nothing has ended, ISO 8601: the first moment that was missed. */
  readonly overdueSince?: string;
  /** Since when a process works on a run of it, ISO 8601. */
  readonly runningSince?: string;
  readonly lastRun?: ScheduledRun;
}

/**
 * Has the migration of a manifest run at the times of its schedule, as a top-up each time. Set again with the same,
 * nothing changes; a paused one stays paused.
 */
export async function setSchedule(
  { staging, now }: ScheduleStore,
  { manifest, baseDir }: ManifestAt,
  { cron, timezone, lagMinutes }: ScheduleBlock,
): Promise<Schedule> {
  const at = now().toISOString();
  return change(staging, manifest.name, (before) => {
    const state = before?.state === 'paused' ? 'paused' : 'active';
    const terms = { cron, timezone, lagMinutes, manifest: withoutUndefined(manifest), baseDir };
    const isSame =
      before !== undefined && canonicalJson({ ...before, ...terms, state }) === canonicalJson(before);
    if (isSame) return before;
    const isNewTime = before?.state !== 'active' || before.cron !== cron || before.timezone !== timezone;
    return { state, at, since: isNewTime ? at : before.since, ...terms };
  });
}

/** No run begins until it is resumed; one that is under way continues. Throws ConfigError where there is none. */
export const pauseSchedule = (store: ScheduleStore, name: string): Promise<Schedule> =>
  enter(store, name, 'paused');

/** What was due meanwhile is one run, at the next time of the schedule. */
export const resumeSchedule = (store: ScheduleStore, name: string): Promise<Schedule> =>
  enter(store, name, 'active');

/** The migration stays as it is. */
export const removeSchedule = (store: ScheduleStore, name: string): Promise<Schedule> =>
  enter(store, name, 'removed');

async function enter(
  { staging, now }: ScheduleStore,
  name: string,
  state: Schedule['state'],
): Promise<Schedule> {
  const at = now().toISOString();
  return change(staging, name, (before) => {
    if (before === undefined || before.state === 'removed') throw noSchedule(name, staging);
    if (before.state === state) return before;
    return { ...before, state, at, since: state === 'active' ? at : before.since };
  });
}

/** Of two that change it at once, the second decides again by what is there then. */
async function change(
  staging: Staging,
  name: string,
  decide: (before: Schedule | undefined) => Schedule,
): Promise<Schedule> {
  for (;;) {
    const before = await loadNewestSchedule(staging, name);
    const schedule = decide(before.schedule);
    if (schedule === before.schedule) return schedule;
    if (await addSchedule(staging, name, { number: before.number + 1, schedule })) return schedule;
  }
}

const noSchedule = (name: string, staging: Staging): ConfigError =>
  new ConfigError(
    `migration "${name}" has no schedule in ${staging.location}; "backhaul schedule ls" lists those that there are, "backhaul schedule set <manifest>" makes one`,
  );

/** Throws ConfigError where there is none. */
export async function requireSchedule(staging: Staging, name: string): Promise<Schedule> {
  const { schedule } = await loadNewestSchedule(staging, name);
  if (schedule === undefined || schedule.state === 'removed') throw noSchedule(name, staging);
  return schedule;
}

/** All that were not removed, by name. */
export async function listSchedules(store: ViewStore): Promise<readonly ScheduleView[]> {
  const names = (await listScheduled(store.staging)).sort();
  const views = await Promise.all(names.map((name) => loadFromStaging(store, name)));
  return withRunning(
    store,
    views.filter((view) => view !== undefined),
  );
}

/** One that is damaged is shown as such, and hides no other. Undefined where there is none. */
export async function loadScheduleView(store: ViewStore, name: string): Promise<ScheduleView | undefined> {
  const view = await loadFromStaging(store, name);
  return view && (await withRunning(store, [view]))[0];
}

async function withRunning(
  store: ViewStore,
  views: readonly ScheduleView[],
): Promise<readonly ScheduleView[]> {
  const running = await findRunning(
    store,
    views.map(({ migration }) => migration),
  );
  return views.map((view) => {
    const runningSince = running.get(view.migration);
    return runningSince === undefined ? view : { ...view, runningSince };
  });
}

async function loadFromStaging(
  { staging, now }: ScheduleStore,
  name: string,
): Promise<ScheduleView | undefined> {
  try {
    const { schedule } = await loadNewestSchedule(staging, name);
    const { run } = await loadLastRun(staging, name);
    const view = schedule && toScheduleView(name, { schedule, run, now: now() });
    const held = view?.state === 'active' ? await findHold(staging, name) : undefined;
    return view && held ? { ...view, held } : view;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const unknown = { cron: '', timezone: '', lagMinutes: 0 };
    return { migration: name, state: 'damaged', reason: getMessage(error), ...unknown };
  }
}

async function findHold(staging: Staging, name: string): Promise<State | undefined> {
  const state = toState({}, await loadControl(staging, name));
  return decide({ state, epoch: 0 }, { kind: 'top_up' }).kind === 'refuse' ? state : undefined;
}

function toScheduleView(
  migration: string,
  {
    schedule,
    run,
    now,
  }: { readonly schedule: Schedule; readonly run: ScheduledRun | undefined; readonly now: Date },
): ScheduleView | undefined {
  const { state, cron, timezone, lagMinutes } = schedule;
  if (state === 'removed') return undefined;
  const overdue = state === 'active' ? findDue(schedule, run, now)?.first : undefined;
  const next = state === 'active' ? nextOccurrence(cron, now, timezone) : undefined;
  return {
    migration,
    state,
    reason:
      run?.outcome === 'failed' || run?.outcome === 'held' || run?.outcome === 'unable' ? run.reason : '',
    cron,
    timezone,
    lagMinutes,
    ...(next ? { next: next.toISOString() } : {}),
    ...(overdue ? { overdueSince: overdue.toISOString() } : {}),
    ...(run ? { lastRun: run } : {}),
  };
}

/** As it is read again from staging. */
const withoutUndefined = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
