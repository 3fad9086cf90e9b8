import { randomUUID } from 'node:crypto';
import type { Environment } from '../../config/environment.ts';
import { type LoadedManifest, loadManifest } from '../../config/manifest/load-manifest.ts';
import type { Staging } from '../contract/staging.ts';
import { ConfigError, getMessage } from '../lib/errors.ts';
import type { PlanContext } from './migration-runtime.ts';
import { explainGroupEvent } from './plan/checklist.ts';
import { counted, formatBytes } from './plan/format-text.ts';
import { findFiles } from './prepare/find-sources.ts';
import { probeDestination, sendProbe } from './probe-destination.ts';

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was found, or what is wrong and what to do. */
  readonly detail: string;
  readonly ms: number;
}

export interface CheckContext extends PlanContext {
  /** For the variables that manifests name. */
  readonly env: Environment;
  /** Whether the bundled API runs, for manifests without a destination. */
  readonly isBundledRunning: () => Promise<boolean>;
  /** What the machine must have, checked first: a name and what returns the detail or throws. */
  readonly machine: readonly { readonly name: string; readonly look: () => Promise<string> }[];
}

/** Everything a run needs, checked one by one; changes nothing that stays. Never throws for a failed check. */
export async function checkMigration(
  context: CheckContext,
  manifestPath: string | undefined,
  /** Also sends the destination one event. */
  withProbe = false,
): Promise<{ healthy: boolean; checks: Check[] }> {
  if (withProbe && manifestPath === undefined) {
    throw new ConfigError('--send-probe needs a manifest, which names the destination');
  }
  const checks: Check[] = [];
  const check = async <T>(
    name: string,
    look: () => Promise<{ detail: string; value: T }>,
  ): Promise<T | undefined> => {
    const startedMs = performance.now();
    const measureMs = () => Math.round(performance.now() - startedMs);
    try {
      const { detail, value } = await look();
      checks.push({ name, ok: true, detail, ms: measureMs() });
      return value;
    } catch (error) {
      checks.push({ name, ok: false, detail: getMessage(error), ms: measureMs() });
      return undefined;
    }
  };
  const checkDetail = (name: string, look: () => Promise<string>) =>
    check(name, async () => ({ detail: await look(), value: undefined }));

  for (const { name, look } of context.machine) await checkDetail(name, look);
  await checkDetail('staging', async () => checkStaging(await context.openStaging()));
  if (manifestPath !== undefined) {
    const loaded = await check('manifest', () => checkManifest(manifestPath, context.env));
    if (loaded) {
      await checkDetail('source', () => checkSource(loaded, context));
      const askDestination = (ask: typeof probeDestination) => () => checkDestination(loaded, ask, context);
      await checkDetail('destination', askDestination(probeDestination));
      const { destination, people } = loaded.manifest;
      if (destination) await checkDetail('groups', async () => explainGroupEvent(people.groupIdentifyEvent));
      if (withProbe) {
        await checkDetail(
          'probe',
          askDestination((destination) => sendProbe(destination, context.now())),
        );
      }
    }
  }
  return { healthy: checks.every(({ ok }) => ok), checks };
}

async function checkStaging(staging: Staging): Promise<string> {
  const key = `_doctor/${randomUUID()}`;
  await staging.put(key, Buffer.from('probe'));
  const read = (await staging.get(key))?.toString();
  const isListed = await lists(staging, key);
  await staging.remove(key);
  if (read !== 'probe') throw new ConfigError(`${staging.location} does not give back what was put there`);
  if (!isListed) {
    throw new ConfigError(
      `${staging.location} does not list what was put there: its listings are behind, or something changes them`,
    );
  }
  await staging.create(key, Buffer.from('probe'));
  await staging.remove(key);
  return staging.location;
}

async function lists(staging: Staging, wanted: string): Promise<boolean> {
  for await (const { key } of staging.list(wanted)) if (key === wanted) return true;
  return false;
}

async function checkManifest(path: string, env: Environment) {
  const value = await loadManifest(path, { env });
  const { name, source } = value.manifest;
  return { detail: `"${name}", ${source.type}, zone ${source.timezone}`, value };
}

async function checkSource({ manifest, baseDir }: LoadedManifest, context: CheckContext): Promise<string> {
  const files = await findFiles(context, { manifest, baseDir });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return `${counted(files.length, 'file')}, ${formatBytes(bytes)}`;
}

async function checkDestination(
  { manifest, apiKey }: LoadedManifest,
  ask: typeof probeDestination,
  { isBundledRunning }: Pick<CheckContext, 'isBundledRunning'>,
): Promise<string> {
  if (!manifest.destination || apiKey === undefined)
    return (await isBundledRunning())
      ? 'the bundled API, which runs already'
      : 'the bundled API, started for the run';
  return ask({ ...manifest.destination, apiKey });
}
