import { isOlder, type RedisVersion } from './find-redis-server.ts';

export interface RedisSettings {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly version: RedisVersion;
}

/** The queue survives a crash of Redis except for its last second, which staging restores (I4). */
export function renderRedisConfig(settings: RedisSettings): string {
  return [
    'bind 127.0.0.1',
    `port ${settings.port}`,
    'protected-mode yes',
    `requirepass ${settings.password}`,
    'daemonize no',
    `dir ${quote(settings.folder)}`,
    'appendonly yes',
    'appendfsync everysec',
    // A log that a crash cut off is loaded up to its last complete command.
    'aof-load-truncated yes',
    'save ""',
    // Keys of BullMQ must never be evicted.
    'maxmemory-policy noeviction',
    // From 7.2 on Redis refuses to start when the environment names a locale that is not installed.
    ...(isOlder(settings.version, { major: 7, minor: 2 }) ? [] : ['locale-collate C']),
    '',
  ].join('\n');
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
