import { mkdir, statfs } from 'node:fs/promises';
import { type LoadedManifest, loadManifest } from '../../../config/manifest/load-manifest.ts';
import type { Settings } from '../../../config/settings.ts';
import { findRedisServer } from '../../embedded/find-redis-server.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { findFiles } from '../../migrations/prepare.ts';
import { lookAtDestination } from '../../migrations/probe-destination.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import { reachRedis } from '../../runtime/reach-redis.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { number } from '../render/render-status.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly ms: number;
}

const MIN_FREE_BYTES = 1024 ** 3;

/** `backhaul doctor`: everything a run needs, looked at one by one; changes nothing that stays. */
export async function doctor(
  { settings, env, terminal }: CommandContext,
  path: string | undefined,
): Promise<ExitCode> {
  const checks: Check[] = [];
  const check = async <T>(
    name: string,
    look: () => Promise<{ detail: string; value?: T }>,
  ): Promise<T | undefined> => {
    const startedMs = performance.now();
    const took = () => Math.round(performance.now() - startedMs);
    try {
      const { detail, value } = await look();
      checks.push({ name, ok: true, detail, ms: took() });
      return value;
    } catch (error) {
      checks.push({ name, ok: false, detail: getMessage(error), ms: took() });
      return undefined;
    }
  };

  await check('Node', async () => ({ detail: process.version }));
  await check('Redis', () => lookAtRedis(settings));
  await check('data folder', () => lookAtDataDir(settings.dataDir));
  await check('staging', () => lookAtStaging(settings));
  if (path !== undefined) {
    const loaded = await check<LoadedManifest>('manifest', async () => {
      const value = await loadManifest(path, { env });
      return {
        detail: `"${value.manifest.name}", ${value.manifest.source.type}, zone ${value.manifest.source.timezone}`,
        value,
      };
    });
    if (loaded) {
      await check('source', () => lookAtSource(loaded, settings));
      await check('destination', async () => ({ detail: await resolveDestination(loaded) }));
    }
  }

  const healthy = checks.every(({ ok }) => ok);
  terminal.data({ healthy, checks }, () =>
    checks
      .map(({ name, ok, detail, ms }) => `${ok ? '✓' : '✗'} ${name.padEnd(12)} ${detail} (${ms} ms)`)
      .join('\n'),
  );
  return healthy ? EXIT.done : EXIT.usage;
}

async function lookAtRedis({ redisUrl, redisServer }: Settings): Promise<{ detail: string }> {
  if (redisUrl === undefined) {
    const found = await findRedisServer(redisServer);
    return { detail: `embedded: ${found.command} ${found.version.major}.${found.version.minor}` };
  }
  return reachRedis(redisUrl, async (redis) => {
    const info = await redis.info();
    const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();
    const policy = field('maxmemory_policy');
    if (policy !== undefined && policy !== 'noeviction') {
      throw new ConfigError(
        `maxmemory-policy is ${policy}: Redis would drop jobs when full. Set it to noeviction in the configuration of that Redis`,
      );
    }
    const aof =
      field('aof_enabled') === '1'
        ? 'append-only file on'
        : 'no append-only file: a restart of Redis means re-queueing';
    return { detail: `${field('redis_version')}, ${aof}` };
  });
}

async function lookAtDataDir(dataDir: string): Promise<{ detail: string }> {
  await mkdir(dataDir, { recursive: true });
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free < MIN_FREE_BYTES)
    throw new ConfigError(
      `${dataDir} has ${number(free / 1024 ** 2)} MiB left; make room or set BACKHAUL_DATA_DIR`,
    );
  return { detail: `${dataDir}, ${number(free / 1024 ** 3)} GiB free` };
}

async function lookAtStaging(settings: Settings): Promise<{ detail: string }> {
  const staging = await openStaging(settings);
  const key = `_doctor/${process.pid}`;
  await staging.put(key, Buffer.from('probe'));
  const read = (await staging.get(key))?.toString();
  const secondTime = await staging.create(key, Buffer.from('other'));
  await staging.remove(key);
  if (read !== 'probe') throw new ConfigError(`${staging.location} does not give back what was put there`);
  if (secondTime) {
    throw new ConfigError(
      `${staging.location} ignores If-None-Match, which keeps two writers apart; use an S3 server that supports conditional writes`,
    );
  }
  return { detail: staging.location };
}

async function lookAtSource(
  { manifest, baseDir }: LoadedManifest,
  settings: Settings,
): Promise<{ detail: string }> {
  const files = await findFiles(manifest, baseDir, settings);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { detail: `${number(files.length)} files, ${number(bytes / 1024 ** 2)} MiB` };
}

async function resolveDestination({ manifest, apiKey }: LoadedManifest): Promise<string> {
  if (!manifest.destination || apiKey === undefined) return 'the bundled API, started for the run';
  return lookAtDestination(manifest.destination.url, apiKey);
}
