import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { loadManifest } from '../../../../config/manifest/load-manifest.ts';
import type { Settings } from '../../../../config/settings.ts';
import { findRunningRedis } from '../../../embedded/supervisor.ts';
import { ConfigError } from '../../../lib/errors.ts';
import type { ManifestAt } from '../../../migrations/manifest/stored-manifest.ts';
import { counted } from '../../../migrations/plan/format-text.ts';
import { findFiles } from '../../../migrations/prepare/find-sources.ts';
import { toRehearsal } from '../../../migrations/rehearse/rehearsal-manifest.ts';
import { writeSample } from '../../../migrations/rehearse/sample-source.ts';
import { startMigration } from '../../../migrations/start.ts';
import { keepVerification } from '../../../migrations/verify/kept.ts';
import { verifyMigration } from '../../../migrations/verify/verify.ts';
import { commandLine, quoted } from '../../command-line.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode, RUN_EXIT } from '../../exit-code.ts';
import { showRun } from '../../show-run.ts';
import { createPlanContextOf } from '../../storage.ts';
import { withRuntime } from '../../with-runtime.ts';
import { parsePagePath } from '../../write-page.ts';
import { openBundled, showVerification } from './verify.ts';

export interface RehearseCommandOptions {
  readonly sample?: string;
  readonly html?: string;
}

/**
 * `backhaul rehearse <manifest>`: runs it into a bundled API of its own, in a data folder that starts empty, and
 * compares what arrived. Nothing leaves the machine, whatever manifest and settings say. Exit codes are those of
 * `run`, and then those of `verify`.
 */
export async function rehearse(
  given: CommandContext,
  path: string,
  { sample, html }: RehearseCommandOptions,
): Promise<ExitCode> {
  const recordsPerFile = parseSample(sample);
  const givenPage = parsePagePath(html, 'comparison.html');
  const loaded = await loadManifest(path, { env: given.env, needsKey: false });
  const folder = resolve(given.settings.dataDir, 'rehearsals', loaded.manifest.name);
  const settings = keepToItself(given.settings, join(folder, 'data'));
  const context = { ...given, settings, env: { ...given.env, BACKHAUL_DATA_DIR: settings.dataDir } };
  if (await findRunningRedis(settings.dataDir))
    throw new ConfigError(
      `this manifest is being rehearsed in ${folder}, which would be emptied: stop that rehearsal first, or set BACKHAUL_DATA_DIR to another folder`,
    );
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const rehearsal = await prepare(given, loaded, join(folder, 'sample'), recordsPerFile);

  const again = commandLine(given, `rehearse ${quoted(path)}`);
  return withRuntime(context, true, async (runtime) => {
    const { bundled } = runtime;
    const { kind, migration } = await showRun(context, { again }, (run) =>
      startMigration(runtime, rehearsal, run),
    );
    if (!bundled || (kind !== 'finished' && kind !== 'rejects_above_threshold')) return RUN_EXIT[kind];
    const result = await verifyMigration(runtime, migration, { openCounts: openBundled(bundled) });
    await keepVerification(runtime, result);
    await showVerification(context, result, givenPage ?? join(folder, 'comparison.html'));
    context.terminal.info(
      `What arrived stays in ${settings.dataDir} until the next rehearsal; look at it with: ${commandLine(context, 'serve')}`,
    );
    if (result.unexplained > 0) return EXIT.differences;
    return RUN_EXIT[kind];
  });
}

async function prepare(
  { settings, terminal }: CommandContext,
  { manifest, baseDir }: ManifestAt,
  folder: string,
  recordsPerFile: number | undefined,
): Promise<ManifestAt> {
  if (recordsPerFile === undefined) return { manifest: toRehearsal(manifest), baseDir };
  const slices = await findFiles(createPlanContextOf({ settings, terminal }), { manifest, baseDir });
  const { files, records } = await writeSample(slices, folder, recordsPerFile);
  terminal.info(`Rehearsing with ${counted(records, 'record')} of ${counted(slices.length, 'file')}.`);
  return { manifest: toRehearsal(manifest, files), baseDir };
}

function parseSample(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new ConfigError(`--sample takes a whole number above 0, not "${text}"`);
}

/** Everything embedded, and nobody told: only sources are read from where they are. */
function keepToItself(settings: Settings, dataDir: string): Settings {
  const {
    redisUrl: _redis,
    databaseUrl: _database,
    staging: _staging,
    apiUrl: _api,
    publicUrl: _public,
    workerPort: _port,
    keepDays: _days,
    seedFile: _seed,
    ...rest
  } = settings;
  return { ...rest, dataDir, port: 0, webhook: { allowPrivate: false }, logLevel: 'warn' };
}
