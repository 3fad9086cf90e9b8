import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { prepared } from './prepared.ts';
import { until } from './until.ts';

export interface RunningPostgres {
  /** Connects through a socket in the cluster's own folder: no port to collide on. */
  readonly url: string;
  /** The socket that clients connect to. */
  readonly socketPath: string;
  readonly pid: number;
  /** Ends the server: SIGTERM waits for clients, SIGINT (fast) and SIGQUIT (immediate) do not, SIGKILL is a crash. */
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Starts it again after `end`, at the same address and with the same data. */
  startAgain(): Promise<void>;
  stop(): Promise<void>;
}

/** Where postgres and initdb lie: on PATH, or where Debian puts them. Undefined when there is none. */
function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = listFolder(debian).sort((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return folders.find(
    (folder) => folder !== '' && ['postgres', 'initdb'].every((name) => isExecutable(join(folder, name))),
  );
}

/** Reached through a socket only, and without what makes data outlive a power cut: nothing here is kept. */
const SETTINGS = { listen_addresses: '', fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/** A real PostgreSQL server on a cluster of its own; undefined when the machine has none. */
export async function startPostgres(): Promise<RunningPostgres | undefined> {
  const programs = findPostgres();
  if (programs === undefined) return undefined;
  const user = unprivilegedUser();
  const dir = mkdtempSync(join(tmpdir(), 'backhaul-pg-'));
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  // The server creates its files with LC_ALL, and neither it nor initdb may run as root.
  const options = { ...user, cwd: dir, env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } };
  execFileSync('cp', ['-a', await emptyCluster(programs, user), data]);
  const flags = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const start = async () => {
    const started = spawn(join(programs, 'postgres'), ['-D', data, '-k', dir, ...flags], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await ready(started);
    return started;
  };
  let server = await start();
  // A test run that ends without stop() must not leave a server behind.
  const endWithUs = () => server.kill('SIGQUIT');
  process.once('exit', endWithUs);
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  return {
    url: `postgresql://backhaul@localhost/postgres?host=${encodeURIComponent(dir)}`,
    socketPath: join(dir, '.s.PGSQL.5432'),
    get pid() {
      return server.pid ?? 0;
    },
    end,
    async startAgain() {
      // After a crash the processes of its connections may need a moment to notice it; until then the new
      // server refuses their shared memory.
      server = await until('PostgreSQL to start again', () => start().catch(() => undefined));
    },
    async stop() {
      process.off('exit', endWithUs);
      await end('SIGINT');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A cluster as initdb makes it, which takes longer than all the rest. */
function emptyCluster(programs: string, user: { uid: number; gid: number } | undefined): Promise<string> {
  const version = execFileSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' });
  const name = `postgres-${version.replace(/[^\d.]+/g, '-')}-${user?.uid ?? process.getuid?.() ?? 0}`;
  return prepared(name, (path) => {
    // initdb may not run as root, and the user that it runs as may not write where we keep the result.
    const dir = mkdtempSync(join(tmpdir(), 'backhaul-initdb-'));
    if (user !== undefined) chownSync(dir, user.uid, user.gid);
    const made = join(dir, 'data');
    execFileSync(
      join(programs, 'initdb'),
      ['-D', made, '-U', 'backhaul', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
      {
        ...user,
        cwd: dir,
        env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    execFileSync('cp', ['-a', made, path]);
    rmSync(dir, { recursive: true });
  });
}

async function ready(server: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('ready to accept connections')) resolve();
    });
    server.once('exit', (code) =>
      reject(new Error(`postgres ended with ${code} before it was ready:\n${said}`)),
    );
  });
}

/** When we are root: the user that packages make for the server, else nobody. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const account = ['postgres', 'nobody'].flatMap((name) =>
    accounts.filter((line) => line.startsWith(`${name}:`)),
  )[0];
  const [, , uid, gid] = account?.split(':') ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error('PostgreSQL needs a user other than root: add `nobody`');
  return { uid: Number(uid), gid: Number(gid) };
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
