import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError, getMessage } from '../lib/errors.ts';
import { findProjectRoot } from './project-root.ts';

const run = promisify(execFile);

export interface RedisProgram {
  readonly command: string;
  readonly version: RedisVersion;
}

export interface RedisVersion {
  readonly major: number;
  readonly minor: number;
}

/** BullMQ 6 needs commands of Redis 6.2: https://docs.bullmq.io */
const OLDEST_REDIS: RedisVersion = { major: 6, minor: 2 };

/**
 * The given program, else one on the PATH, else the copy that set-up unpacked. Both `redis-server`
 * and `valkey-server` work.
 */
export async function findRedisServer(given?: string): Promise<RedisProgram> {
  const unpacked = join(findProjectRoot(), 'node_modules/.cache/backhaul/redis/redis-server');
  const commands = given === undefined ? ['redis-server', 'valkey-server', unpacked] : [given];
  const found: string[] = [];
  for (const command of commands) {
    const result = await readVersion(command);
    if (result.kind === 'absent') continue;
    if (result.kind === 'version' && !isOlder(result.version, OLDEST_REDIS)) {
      return { command, version: result.version };
    }
    found.push(`${command} ${result.detail}`);
  }
  const searched = found.length > 0 ? `found only: ${found.join('; ')}` : `looked for ${commands.join(', ')}`;
  throw new ConfigError(
    `No redis-server of version ${OLDEST_REDIS.major}.${OLDEST_REDIS.minor} or newer (${searched}). Backhaul keeps ` +
      'its queue in a private Redis. Run `node src/setup/setup.mjs` in the checkout to get one, or name a ' +
      'program with BACKHAUL_REDIS_SERVER or a running server with REDIS_URL.',
  );
}

/** Reads `Redis server v=7.0.15 sha=…` and `Valkey server v=8.0.1 …`. */
export function parseRedisVersion(text: string): RedisVersion | undefined {
  const [, major, minor] = /\bserver v=(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

export function isOlder(version: RedisVersion, than: RedisVersion): boolean {
  return version.major === than.major ? version.minor < than.minor : version.major < than.major;
}

type VersionResult =
  | { readonly kind: 'absent' }
  | { readonly kind: 'version'; readonly version: RedisVersion; readonly detail: string }
  | { readonly kind: 'broken'; readonly detail: string };

async function readVersion(command: string): Promise<VersionResult> {
  try {
    const { stdout } = await run(command, ['--version'], { timeout: 5_000 });
    const version = parseRedisVersion(stdout);
    if (version === undefined) return { kind: 'broken', detail: `(prints ${stdout.trim().slice(0, 80)})` };
    return { kind: 'version', version, detail: `(version ${version.major}.${version.minor})` };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'absent' };
    return { kind: 'broken', detail: `(${getMessage(error).split('\n')[0]})` };
  }
}
