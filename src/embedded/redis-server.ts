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
  /** Program to run. @default see findRedisServer */
  readonly binary?: string | undefined;
  /** Address to listen on. @default a free port and a new random password */
  readonly address?: RedisAddress;
}

export interface RedisServer extends Child {
  /** Contains the password: must not be logged. */
  readonly url: string;
  readonly address: RedisAddress;
}

/** Loading a large append-only file takes time. */
const READY_TIMEOUT_MS = 120_000;
const PORT_ATTEMPTS = 3;

/** A private Redis on 127.0.0.1 that responds to PING when this resolves. */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  const { address } = options;
  if (address !== undefined) return startAt(address, options);
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return await startAt({ port, password: randomBytes(32).toString('hex') }, options);
    } catch (error) {
      // Another process took the port after it was found free.
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
  const child = await startChild({ ...bindToParent(command, [configFile]), logFile, pidFile });
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

/** A budget that was not used during this many starts has no grants that still count. */
const MAX_CLEAN_STOPS = 1_000;

/**
 * Records in the new server which servers it continues, if the last one was shut down in order; after a crash
 * up to a second of its writes is missing, and nothing is recorded. Returns the new server's run id.
 */
async function continueFrom(cleanFile: string, url: string): Promise<string> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => {}); // the command that fails reports it
  try {
    const previous = readTextIfThere(cleanFile);
    if (previous === undefined) await client.del(CLEAN_STOPS_KEY);
    else await client.zadd(CLEAN_STOPS_KEY, Date.now(), previous);
    await client.zremrangebyrank(CLEAN_STOPS_KEY, 0, -1 - MAX_CLEAN_STOPS);
    rmSync(cleanFile, { force: true });
    return /run_id:([0-9a-f]+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
  } finally {
    client.disconnect();
  }
}

async function waitForPing(url: string, child: Child, logFile: string): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {}); // connections are refused until it listens
  const died = child.exited.then((exit) => {
    throw new UnavailableError(
      `The embedded Redis ${describeExit(exit)} while starting. Last lines of its log, ${logFile}:\n${readLogTail(logFile)}`,
    );
  });
  try {
    await withTimeout(
      Promise.race([client.ping(), died]),
      READY_TIMEOUT_MS,
      () =>
        new UnavailableError(
          `The embedded Redis did not respond within ${READY_TIMEOUT_MS / 1000} s. Last lines of its log, ${logFile}:\n` +
            readLogTail(logFile),
        ),
    );
  } finally {
    client.disconnect();
  }
}

/**
 * With util-linux, Redis gets a SIGTERM when the thread that started it ends, however it ends. Without it,
 * the next owner of the folder stops it (stopLeftover).
 */
function bindToParent(command: string, args: readonly string[]): { command: string; args: string[] } {
  if (!supportsDeathSignal()) return { command, args: [...args] };
  return { command: 'setpriv', args: ['--pdeathsig', 'TERM', '--', command, ...args] };
}

function supportsDeathSignal(): boolean {
  try {
    execFileSync('setpriv', ['--pdeathsig', 'TERM', '--', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
