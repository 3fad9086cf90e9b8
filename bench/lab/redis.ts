import { findRedisServer } from '../../src/embedded/find-redis-server.ts';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { connectRedis } from '../../src/lib/redis/connect-redis.ts';
import { startServer } from './server.ts';

export interface BenchRedis {
  readonly url: string;
  readonly pid: number;
  /** Forgets everything: every run starts with an empty Redis. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** A redis-server with an append-only file alone, as the embedded one has: one that saves does not end without its folder. */
export async function startRedis(folder: string, prefix: readonly string[]): Promise<BenchRedis> {
  const { command } = await findRedisServer(process.env['BACKHAUL_REDIS_SERVER']);
  const port = await findFreePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const server = await startServer(
    [...prefix, command, ...settings, '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'],
    { ready: /Ready to accept connections/, stop: 'SIGTERM' },
  );
  const url = `redis://127.0.0.1:${port}`;
  const client = connectRedis(url);
  return {
    url,
    pid: server.pid,
    clear: async () => void (await client.flushall()),
    async stop() {
      client.disconnect();
      await server.stop();
    },
  };
}
