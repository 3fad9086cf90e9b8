import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { CLEAN_STOPS_KEY } from '../contract/redis-keys.ts';
import { withTimeout } from '../lib/async/timeout.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { type Child, describeExit, readLogTail, startChild, stopLeftover } from './child.ts';
import { findRedisServer } from './find-redis-server.ts';
import { findFreePort } from './free-port.ts';
import { createPrivateFolder, putPrivateFile, readTextIfThere } from './private-file.ts';
import { renderRedisConfig } from './redis-config.ts';

export interface RedisAddress {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly password: string;
}

export interface RedisServerOptions {
  /** Redis keeps its files in `<dataDir>/redis`. */
  readonly dataDir: string;
  readonly log: Logger;
  /** Program to run. Default: see findRedisServer. */
  readonly binary?: string | undefined;
  /** Where to listen. Default: a free port and a new random password. */
  readonly address?: RedisAddress;
}

export interface RedisServer extends Child {
  /** Carries the password: never to be logged. */
  readonly url: string;
  readonly address: RedisAddress;
}

/** Reading a large append-only file back takes its time. */
const READY_BOUND_MS = 120_000;
const PORT_ATTEMPTS = 3;

/** A private Redis on 127.0.0.1 that answers PING by the time this resolves. */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  const { address } = options;
  if (address !== undefined) return startAt(address, options);
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return await startAt({ port, password: randomBytes(32).toString('hex') }, options);
    } catch (error) {
      // Someone took the port between the look and the start.
      const taken = error instanceof Error && error.message.includes('Address already in use');
      if (!taken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function startAt(address: RedisAddress, options: RedisServerOptions): Promise<RedisServer> {
  const { command, version } = await findRedisServer(options.binary);
  const folder = resolve(options.dataDir, 'redis');
  const configFile = join(folder, 'redis.conf');
  const logFile = join(folder, 'redis.log');
  const pidFile = join(folder, 'redis.pid.json');
  createPrivateFolder(folder);
  await stopLeftover(pidFile);
  // In a file of mode 0600 and not on the command line, which every user of the machine can read.
  putPrivateFile(configFile, renderRedisConfig({ folder, version, ...address }));
  const child = await startChild({ ...withParent(command, [configFile]), logFile, pidFile });
  const url = `redis://:${address.password}@127.0.0.1:${address.port}`;
  const cleanFile = join(folder, 'clean-stop');
  let runId: string;
  try {
    await waitForPing(url, child, logFile);
    runId = await continueFrom(cleanFile, url);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const stop = async () => {
    await child.stop();
    const { code } = await child.exited;
    if (code === 0) putPrivateFile(cleanFile, runId);
  };
  options.log.debug({ pid: child.pid, port: address.port, folder }, 'redis started');
  return { pid: child.pid, exited: child.exited, stop, url, address };
}

/** Whoever has not sent for as many starts has sent nothing that still counts. */
const MAX_CLEAN_STOPS = 1_000;

/**
 * Tells the new server which ones it continues, when the last was stopped in order; after a crash up to
 * a second of its last writes is missing, and it says nothing. Returns the new server's run id.
 */
async function continueFrom(cleanFile: string, url: string): Promise<string> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => {}); // told by the command that fails
  try {
    const before = readTextIfThere(cleanFile);
    if (before === undefined) await client.del(CLEAN_STOPS_KEY);
    else await client.zadd(CLEAN_STOPS_KEY, Date.now(), before);
    await client.zremrangebyrank(CLEAN_STOPS_KEY, 0, -1 - MAX_CLEAN_STOPS);
    rmSync(cleanFile, { force: true });
    return /run_id:([0-9a-f]+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
  } finally {
    client.disconnect();
  }
}

async function waitForPing(url: string, child: Child, logFile: string): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {}); // refused until it listens
  const died = child.exited.then((exit) => {
    throw new UnavailableError(
      `The embedded Redis ${describeExit(exit)} while starting. Its log, ${logFile}, ends:\n${readLogTail(logFile)}`,
    );
  });
  try {
    await withTimeout(
      Promise.race([client.ping(), died]),
      READY_BOUND_MS,
      () =>
        new UnavailableError(
          `The embedded Redis did not answer within ${READY_BOUND_MS / 1000} s. Its log, ${logFile}, ends:\n` +
            readLogTail(logFile),
        ),
    );
  } finally {
    client.disconnect();
  }
}

/**
 * With util-linux at hand, Redis gets a SIGTERM when the thread that started it ends, however it ends.
 * Elsewhere the next owner of the folder stops it (stopLeftover).
 */
function withParent(command: string, args: readonly string[]): { command: string; args: string[] } {
  if (!knowsDeathSignal()) return { command, args: [...args] };
  return { command: 'setpriv', args: ['--pdeathsig', 'TERM', '--', command, ...args] };
}

function knowsDeathSignal(): boolean {
  try {
    execFileSync('setpriv', ['--pdeathsig', 'TERM', '--', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
