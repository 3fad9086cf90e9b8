import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { CLEAN_STOPS_KEY, CRASHES_KEY } from '../contract/redis-keys.ts';
import { withTimeout } from '../lib/async/timeout.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { type Child, describeExit, readLogTail, startChild, stopLeftover } from './child.ts';
import { findRedisServer } from './find-redis-server.ts';
import { findFreePort } from './free-port.ts';
import { createPrivateFolder, putPrivateFile, readTextIfThere } from './private-file.ts';
import { readBootId } from './process-identity.ts';
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

/**
 * A private Redis on 127.0.0.1 that responds to PING when this resolves. Files that it cannot load are put aside, and
 * it starts without them: staging holds everything but the queue, and senders wait a full window (I4, I6).
 */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  try {
    return await startAnywhere(options);
  } catch (error) {
    if (!(error instanceof Error && DAMAGED_LOG.test(error.message))) throw error;
    const folder = resolve(options.dataDir, 'redis');
    const aside = `${folder}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    renameSync(folder, aside);
    options.log.warn({ aside }, 'the files of the embedded Redis are damaged; it starts without them');
    return startAnywhere(options);
  }
}

/**
 * What Redis says of files that it cannot load: https://github.com/redis/redis, src/aof.c. Files that it may not
 * open, or cannot write, are not damaged.
 */
const DAMAGED_LOG =
  /Bad file format reading the append only file|Unexpected end of file reading the append only file|empty AOF manifest|AOF manifest file (?:format|contains|is)|(?:invalid|wrong).*AOF manifest|Unable to obtain the AOF file .* No such file|Wrong signature trying to load|RDB file.*corrupt|Short read or OOM loading DB|Internal error in RDB reading|Wrong RDB checksum/i;

async function startAnywhere(options: RedisServerOptions): Promise<RedisServer> {
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
  const runFile = join(folder, 'last-run.json');
  let runId: string;
  try {
    await waitForPing(url, child, logFile);
    runId = await continueFrom(runFile, url);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const stop = async () => {
    await child.stop();
    const { code } = await child.exited;
    // Where somebody removed the folder meanwhile, there is nothing to continue.
    if (code === 0 && existsSync(folder)) saveRun(runFile, { runId, inOrder: true });
  };
  options.log.debug({ pid: child.pid, port: address.port, folder }, 'redis started');
  return { pid: child.pid, exited: child.exited, stop, abandon: child.abandon, url, address };
}

/** A budget that was not used during this many starts has no grants that still count. */
const MAX_PREDECESSORS = 1_000;

/** The server that used the folder last. */
const lastRun = z.object({
  runId: z.string(),
  /** Undefined where the system does not tell. */
  boot: z.string().optional(),
  /** Whether it was shut down with everything on disk. */
  inOrder: z.boolean(),
});

const saveRun = (file: string, run: { readonly runId: string; readonly inOrder: boolean }) =>
  putPrivateFile(file, JSON.stringify({ ...run, boot: readBootId() }));

/**
 * Records in the new server which servers it continues (see redis-keys.ts). One that was killed has written all but
 * its last commands, which the system keeps; where the machine itself went down nothing is known, and
 * nothing is recorded. Returns the new server's run id.
 */
async function continueFrom(runFile: string, url: string): Promise<string> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => {}); // the command that fails reports it
  try {
    const last = readLastRun(runFile);
    const boot = readBootId();
    const known = last && (last.inOrder || (boot !== undefined && last.boot === boot));
    if (!known) await client.del(CLEAN_STOPS_KEY, CRASHES_KEY);
    else {
      const scores = await Promise.all(
        [CLEAN_STOPS_KEY, CRASHES_KEY].map(
          async (key) => (await client.zrange(key, '-1', '-1', 'WITHSCORES'))[1],
        ),
      );
      const key = last.inOrder ? CLEAN_STOPS_KEY : CRASHES_KEY;
      await client.zadd(key, Math.max(...scores.map((score) => Number(score ?? 0))) + 1, last.runId);
      await client.zremrangebyrank(key, 0, -1 - MAX_PREDECESSORS);
    }
    const runId = /run_id:([0-9a-f]+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
    saveRun(runFile, { runId, inOrder: false });
    return runId;
  } finally {
    client.disconnect();
  }
}

function readLastRun(file: string): z.infer<typeof lastRun> | undefined {
  try {
    return lastRun.safeParse(JSON.parse(readTextIfThere(file) ?? '')).data;
  } catch {
    return undefined;
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
