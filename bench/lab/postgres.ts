import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { startServer } from './server.ts';

export interface BenchPostgres {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * A PostgreSQL server with its own defaults; undefined when the machine has none.
 *
 * @param kept the folder of its cluster, which is made where there is none and stays
 * @default kept an empty cluster
 */
export async function startPostgres(
  prefix: readonly string[],
  kept?: string,
): Promise<BenchPostgres | undefined> {
  const programs = findPostgres();
  if (programs === undefined) return undefined;
  const user = findUnprivilegedUser();
  if (kept !== undefined) mkdirSync(kept, { recursive: true });
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'backhaul-bench-pg-'));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  // The server creates its files with LC_ALL, and neither it nor initdb may run as root.
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } };
  const initdb = ['-D', data, '-U', 'backhaul', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  if (!existsSync(join(data, 'PG_VERSION'))) {
    execFileSync(join(programs, 'initdb'), initdb, { ...options, stdio: 'ignore' });
  }
  const server = await startServer(
    [...prefix, join(programs, 'postgres'), '-D', data, '-k', folder, '-c', 'listen_addresses='],
    { ...options, ready: /ready to accept connections/, stop: 'SIGINT' },
  );
  return {
    url: `postgresql://backhaul@localhost/postgres?host=${encodeURIComponent(folder)}`,
    pid: server.pid,
    async stop() {
      await server.stop();
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of postgres and initdb: on PATH, or where Debian puts them. */
function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return folders.find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')));
}

/** Undefined unless we are root. */
function findUnprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [account] = ['postgres', 'nobody'].flatMap((name) =>
    accounts.filter((line) => line.startsWith(`${name}:`)),
  );
  const [, , uid, gid] = account?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error('PostgreSQL needs a user other than root');
  return { uid: Number(uid), gid: Number(gid) };
}
