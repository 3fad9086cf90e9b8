import { loadManifest } from '../../../../config/manifest/load-manifest.ts';
import { scheduleBlock } from '../../../../config/manifest/schedule.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { assertContinues, assertNotRemoved } from '../../../migrations/prepare/prepare.ts';
import {
  loadScheduleView,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type ScheduleBlock,
  setSchedule,
} from '../../../migrations/schedule/schedules.ts';
import { commandLine } from '../../command-line.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { openStoreOf } from '../../storage.ts';

export interface SetScheduleOptions {
  readonly cron?: string;
  readonly timezone?: string;
  readonly lag?: string;
}

/** `backhaul schedule set <manifest>`: at the times of its `schedule`, or of the options. */
export async function set(
  context: CommandContext,
  path: string,
  options: SetScheduleOptions,
): Promise<ExitCode> {
  const { env, terminal } = context;
  // The process that runs it needs the key; this one does not.
  const loaded = await loadManifest(path, { env, needsKey: false });
  const terms = toTerms(loaded.manifest.schedule, options, path);
  const store = await openStoreOf(context);
  // No run of it could begin.
  await assertNotRemoved(store.staging, loaded.manifest.name);
  await assertContinues({ ...store, env, bundled: undefined }, loaded.manifest);
  const { state } = await setSchedule(store, loaded, terms);
  const { name } = loaded.manifest;
  const view = await loadScheduleView(store, name);
  const when = `${name} is topped up at "${terms.cron}" (${terms.timezone})`;
  terminal.data(view, () =>
    state === 'paused'
      ? `${when}, once it is resumed: ${commandLine(context, `schedule resume ${name}`)}`
      : `${when}, next at ${view?.next}, by "backhaul serve" or any "backhaul worker".`,
  );
  return EXIT.done;
}

export function toTerms(
  block: ScheduleBlock | undefined,
  { cron = block?.cron, timezone = block?.timezone, lag }: SetScheduleOptions,
  path: string,
): ScheduleBlock {
  if (cron === undefined)
    throw new ConfigError(
      `${path} has no schedule; give it one (schedule: { cron: "0 6 * * *", timezone: Europe/Berlin }), or use --cron and --timezone`,
    );
  const lagMinutes = lag === undefined ? block?.lagMinutes : /^\d+$/.test(lag) ? Number(lag) : Number.NaN;
  const given = {
    cron,
    ...(timezone === undefined ? {} : { timezone }),
    ...(lagMinutes === undefined ? {} : { lagMinutes }),
  };
  const parsed = scheduleBlock.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map(({ path: at, message }) => `--${OPTIONS[String(at[0])]}: ${message}`).join('\n'),
  );
}
const OPTIONS: Readonly<Record<string, string>> = { cron: 'cron', timezone: 'timezone', lagMinutes: 'lag' };

/** `backhaul schedule pause <name>`. */
export const pause = (context: CommandContext, name: string): Promise<ExitCode> =>
  change(
    context,
    name,
    pauseSchedule,
    `is paused. Resume it with: ${commandLine(context, `schedule resume ${name}`)}`,
  );

/** `backhaul schedule resume <name>`. */
export const resume = (context: CommandContext, name: string): Promise<ExitCode> =>
  change(context, name, resumeSchedule, 'is active');

/** `backhaul schedule rm <name>`: the migration stays. */
export const remove = (context: CommandContext, name: string): Promise<ExitCode> =>
  change(context, name, removeSchedule, 'is removed; the migration stays as it is');

async function change(
  { settings, terminal }: CommandContext,
  name: string,
  act: typeof pauseSchedule,
  said: string,
): Promise<ExitCode> {
  const { state, at } = await act(await openStoreOf({ settings, terminal }), name);
  terminal.data({ migration: name, state, at }, () => `The schedule of ${name} ${said}`);
  return EXIT.done;
}
