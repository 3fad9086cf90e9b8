import { ConfigError } from '../../../lib/errors.ts';
import { loadCoverage } from '../../../migrations/schedule/coverage.ts';
import { listNext } from '../../../migrations/schedule/find-due.ts';
import { listSchedules, loadScheduleView, requireSchedule } from '../../../migrations/schedule/schedules.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { describeDue, formatLocal, renderCoverage, renderSchedules } from '../../render/render-schedules.ts';
import { openStoreOf } from '../../storage.ts';

/** `backhaul schedule ls`. */
export async function list({ settings, terminal }: CommandContext): Promise<ExitCode> {
  const store = await openStoreOf({ settings, terminal });
  const all = await listSchedules(store);
  terminal.data(all, () => renderSchedules(all, store.staging.location));
  return all.some(({ state }) => state === 'damaged') ? EXIT.failed : EXIT.done;
}

/** `backhaul schedule next <name>`: as the queue computes it. */
export async function next(
  { settings, terminal }: CommandContext,
  name: string,
  options: { count: string },
): Promise<ExitCode> {
  const count = Number(options.count);
  if (!Number.isInteger(count) || count < 1 || count > 1_000)
    throw new ConfigError(`--count takes a whole number from 1 to 1000, not "${options.count}"`);
  const store = await openStoreOf({ settings, terminal });
  const schedule = await requireSchedule(store.staging, name);
  const { state, timezone } = schedule;
  const { overdueSince, runningSince } = (await loadScheduleView(store, name)) ?? {};
  const moments = listNext(schedule, store.now(), count).map((moment) => ({
    at: moment.toISOString(),
    local: formatLocal(moment, timezone),
  }));
  const due = describeDue({ overdueSince, runningSince });
  const now = {
    ...(overdueSince === undefined ? {} : { overdueSince }),
    ...(runningSince === undefined ? {} : { runningSince }),
  };
  terminal.data({ migration: name, state, timezone, ...now, next: moments }, () =>
    [
      ...(due === undefined ? [] : [`${name} is ${due}; after that:`]),
      ...(state === 'paused' ? [`${name} is paused; it would run at:`] : []),
      ...moments.map(({ at, local }) => `${local}  ${at}`),
    ].join('\n'),
  );
  return EXIT.done;
}

/** `backhaul schedule coverage <name>`: what is in, what came late and what is missing, by day. */
export async function coverage({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const found = await loadCoverage(await openStoreOf({ settings, terminal }), name);
  terminal.data(found, () => renderCoverage(found));
  return EXIT.done;
}
