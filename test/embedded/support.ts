import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { isAlive, processIdentity } from '../../src/embedded/process-identity.ts';

export const quiet = pino({ level: 'silent' });

export function createDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'backhaul-embedded-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** A client that waits out a restart of its server. */
export function connect(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

export async function redisPid(client: Redis): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1]);
}

export const readIdentity = (path: string) => processIdentity.parse(JSON.parse(readFileSync(path, 'utf8')));

/** Polls the system, which sends no event when a process of somebody else ends. */
export async function waitUntilGone(pidIdentity: ReturnType<typeof readIdentity>): Promise<void> {
  while (isAlive(pidIdentity)) await new Promise((resolve) => setTimeout(resolve, 10));
}

export interface OwnerProcess {
  readonly process: ChildProcess;
  readonly said: {
    readonly redisUrl: string;
    readonly owner: boolean;
    readonly api?: { readonly url: string };
  };
  /** Asks it to close its supervisor, and waits until it has gone. */
  end(): Promise<void>;
}

/** Another process with a supervisor of the same data folder. It runs the built code, as users do. */
export async function startOwnerProcess(
  dataDir: string,
  want: { redis: boolean; api: boolean },
): Promise<OwnerProcess> {
  const dist = new URL('../../dist/src/', import.meta.url);
  if (!existsSync(fileURLToPath(dist))) throw new Error('nothing is built: run `node src/setup/setup.mjs`');
  const script = `
    import { createSupervisor } from ${JSON.stringify(new URL('embedded/supervisor.js', dist))};
    import { createLogger } from ${JSON.stringify(new URL('lib/logger.js', dist))};
    const supervisor = await createSupervisor({ ...JSON.parse(process.argv[1]), log: createLogger('silent') });
    const { redisUrl, owner, api } = supervisor;
    console.log(JSON.stringify({ redisUrl, owner, api }));
    process.stdin.once('end', () => supervisor.close());
    process.stdin.resume();
  `;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, JSON.stringify({ dataDir, want })],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => Promise.reject(new Error('the owner process ended before it was ready'))),
  ]);
  const end = async () => {
    child.stdin.end();
    await exited;
  };
  return { process: child, said: JSON.parse(line), end };
}
