import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A real redis-server of a test's own, on a free port of 127.0.0.1, in a folder of its own. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly pid: number;
  /** As a crash: no farewell, nothing written any more. */
  kill9(): Promise<void>;
  /** Starts again on the same port with the data that is there. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

const CACHED = fileURLToPath(
  new URL('../../node_modules/.cache/backhaul/redis/redis-server', import.meta.url),
);
/** Linux: the server dies with the test process, however that ends. */
const SETPRIV = '/usr/bin/setpriv';

export async function startRedis(): Promise<TestRedis> {
  const binary = findBinary();
  const dir = await mkdtemp(join(tmpdir(), 'backhaul-redis-'));
  const port = await freePort();
  let server = await launch(binary, port, dir);

  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  };

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    get pid() {
      return server.pid ?? 0;
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM');
      server = await launch(binary, port, dir);
    },
    async stop() {
      await end('SIGTERM');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function findBinary(): string {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'redis-server'));
  const named = process.env['BACKHAUL_REDIS_SERVER'];
  const found = [...(named ? [named] : []), ...onPath, CACHED].find((path) => existsSync(path));
  if (found) return found;
  throw new Error(
    'These tests need a redis-server, and there is none on the PATH, in BACKHAUL_REDIS_SERVER or unpacked by the set-up. ' +
      'Run `apt-get install -y --no-install-recommends redis-server` (macOS: `brew install redis`), or `npm test`, which does it.',
  );
}

async function launch(binary: string, port: number, dir: string): Promise<ChildProcess> {
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'];
  const command = [binary, ...settings, ...durable];
  if (existsSync(SETPRIV)) command.unshift(SETPRIV, '--pdeathsig', 'KILL');
  const [program = binary, ...args] = command;
  const server = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LD_LIBRARY_PATH: libraryPath(binary) },
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: server.stdout })) {
    said.push(line);
    if (line.includes('Ready to accept connections')) {
      server.stdout.resume();
      return server;
    }
  }
  throw new Error(`redis-server ended instead of starting:\n${said.slice(-10).join('\n')}`);
}

/** An unpacked binary brings its libraries along. */
function libraryPath(binary: string): string {
  const lib = join(dirname(binary), '..', 'lib');
  const unpacked =
    binary === CACHED && existsSync(lib) ? readdirSync(lib).map((name) => join(lib, name)) : [];
  return [...unpacked, process.env['LD_LIBRARY_PATH'] ?? ''].filter(Boolean).join(delimiter);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no free port on 127.0.0.1');
  return address.port;
}
