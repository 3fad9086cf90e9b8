import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { generateAmplitudeExport } from '../../demo/generate-amplitude-export.ts';
import { findRunningRedis } from '../../embedded/supervisor.ts';
import { ConfigError } from '../../lib/errors.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { startMigration } from '../../migrations/start.ts';
import type { BundledApi, Runtime } from '../../runtime/runtime.ts';
import { callApi } from '../call-api.ts';
import { commandLine } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, RUN_EXIT } from '../exit-code.ts';
import { number } from '../render/render-status.ts';
import { showRun } from '../show-run.ts';
import { listenForStop, untilAborted } from '../stop-signal.ts';
import { withRuntime } from '../with-runtime.ts';

const NAME = 'demo';
const MAX_EVENTS = 5_000_000;

/**
 * `backhaul demo`: a whole migration of a generated export, in a data folder of its own that starts empty;
 * then shows what arrived, from the API.
 */
export async function demo(
  given: CommandContext,
  options: { keep?: boolean; events: string },
): Promise<ExitCode> {
  const events = Number(options.events);
  if (!Number.isInteger(events) || events < 1 || events > MAX_EVENTS) {
    throw new ConfigError(`--events takes a whole number from 1 to ${MAX_EVENTS}, not "${options.events}"`);
  }
  const { terminal } = given;
  const folder = join(given.settings.dataDir, 'demo');
  const settings = { ...given.settings, dataDir: join(folder, 'data'), logLevel: 'warn' as const };
  const context = { ...given, settings };
  if (await findRunningRedis(settings.dataDir)) {
    throw new ConfigError(
      `a demo is running in ${folder}, which this one would empty; stop that one first (Ctrl-C), or set BACKHAUL_DATA_DIR to another folder`,
    );
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });

  const path = join(folder, 'amplitude-export.zip');
  await generateAmplitudeExport(path, { seed: 1, events, persons: 300 });
  terminal.info(
    `Generated an Amplitude export: ${path} (${number((await stat(path)).size / 1024)} KiB, ${number(events)} events).`,
  );
  terminal.info('Starting Redis and the bundled API …');

  return withRuntime(context, true, async (runtime) => {
    const manifest = manifestSchema.parse({
      name: NAME,
      source: { type: 'amplitude', from: 'amplitude-export.zip' },
      rejects: { failAbove: '5%' }, // the sample is awkward on purpose
    });
    const { kind } = await showRun(context, { again: commandLine(context, 'demo') }, (run) =>
      startMigration(runtime, { manifest, baseDir: folder }, run),
    );
    if (kind !== 'finished' || !runtime.bundled) return RUN_EXIT[kind];
    await showArrived(runtime.bundled, context);
    if (options.keep) await keepServing(runtime, context);
    return EXIT.done;
  });
}

interface EventCounts {
  readonly results: readonly { readonly event: string; readonly count: number }[];
  readonly total: number;
}

interface Page<T> {
  readonly results: readonly T[];
}

interface StoredPerson {
  readonly uuid: string;
  readonly name: string;
  readonly distinct_ids: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

interface StoredEvent {
  readonly event: string;
  readonly timestamp: string;
}

/** What arrived, as the API returns it. */
async function showArrived(api: BundledApi, { terminal }: CommandContext): Promise<void> {
  const get = <T>(path: string) => callApi<T>(api, { path: `/api/projects/@current/${path}` });
  const counts = await get<EventCounts>('event_counts/');
  const [person] = (await get<Page<StoredPerson>>('persons/?limit=1&search=%40')).results;
  const history = person
    ? (await get<Page<StoredEvent>>(`events/?person_id=${person.uuid}&limit=5`)).results
    : [];
  if (terminal.json) return terminal.data({ eventCounts: counts, person, history }, () => '');

  terminal.info('');
  terminal.info('What the API returns:');
  for (const { event, count } of counts.results.slice(0, 12)) {
    terminal.info(`  ${number(count).padStart(9)}  ${event}`);
  }
  terminal.info(`  ${number(counts.total).padStart(9)}  events in all`);
  if (!person) return;
  terminal.info('');
  terminal.info(`One person: ${person.name} (${person.distinct_ids.join(', ')})`);
  for (const [key, value] of Object.entries(person.properties).slice(0, 8)) {
    terminal.info(`  ${key}: ${stringifyJson(value)}`);
  }
  for (const { timestamp, event } of history) terminal.info(`  ${timestamp}  ${event}`);
}

async function keepServing(runtime: Runtime, { terminal, settings }: CommandContext): Promise<void> {
  const { bundled, failed } = runtime;
  if (!bundled) return;
  terminal.info('');
  terminal.info(
    `API        ${bundled.url}/api/projects/@current/persons/  (Authorization: Bearer <personalKey>)`,
  );
  terminal.info(`Queues     ${bundled.url}/queues  (user ${bundled.queues.user}, password <queuesPassword>)`);
  terminal.info(`Keys       ${join(settings.dataDir, 'keys.json')} holds both`);
  terminal.info('Ctrl-C stops everything.');
  const stop = listenForStop(terminal, '');
  await untilAborted(AbortSignal.any([stop.signal, failed]));
  stop.dispose();
}
