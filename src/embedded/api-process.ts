import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { withTimeout } from '../lib/async/timeout.ts';
import { ConfigError, UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import {
  type ApiOrder,
  type ApiReply,
  type ApiSettings,
  apiReply,
  type QueuesAccess,
} from './api-protocol.ts';
import { type Child, describeExit, readLogTail, startChild, stopLeftover } from './child.ts';
import { findFreePort } from './free-port.ts';
import { createPrivateFolder } from './private-file.ts';
import { findProjectRoot } from './project-root.ts';

export interface ApiProcessOptions {
  readonly dataDir: string;
  /** @default the embedded database in the data folder */
  readonly databaseUrl?: string | undefined;
  /** The Redis whose queues the dashboard shows. */
  readonly redisUrl: string;
  readonly queues: QueuesAccess;
  /** @default 127.0.0.1 */
  readonly host?: string | undefined;
  /** 0 chooses a free one. @default 0 */
  readonly port?: number | undefined;
  readonly settings: ApiSettings;
  readonly keys: { readonly projectKey: string; readonly personalKey: string };
  readonly log: Logger;
}

export interface ApiProcess extends Child {
  readonly url: string;
  readonly port: number;
}

/**
 * The events of a request live as long as it does. In a young generation of 16 MB, the default, they survived
 * collections, which took a quarter of the time of parsing and planning.
 *
 * V8 counts memory outside of the heap, of which a batch takes several times its size. So it marked the same 42 MB again
 * for every 5,000 events, as much work as the events themselves; with room for as much again it does so seldom.
 */
const FLAGS = ['--max-semi-space-size=32', '--heap-growing-percent=100'];

/** The first start creates the embedded database. */
const READY_TIMEOUT_MS = 120_000;

/** Starts the bundled API as a child process, the only one that opens the embedded database. */
export async function startApiProcess(options: ApiProcessOptions): Promise<ApiProcess> {
  const entry = join(findProjectRoot(), 'dist/src/server/main.js');
  if (!existsSync(entry)) {
    throw new ConfigError(
      `The bundled API is not built: ${entry} is missing. Run \`node src/setup/setup.mjs\`.`,
    );
  }
  const dataDir = resolve(options.dataDir);
  const logFile = join(dataDir, 'api.log');
  const pidFile = join(dataDir, 'api.pid.json');
  createPrivateFolder(dataDir);
  await stopLeftover(pidFile);
  const port = options.port || (await findFreePort());
  const order: ApiOrder = {
    dataDir,
    ...(options.databaseUrl === undefined ? {} : { databaseUrl: options.databaseUrl }),
    host: options.host ?? '127.0.0.1',
    port,
    bootstrap: options.keys,
    dashboard: { redisUrl: options.redisUrl, ...options.queues },
    settings: options.settings,
    logLevel: options.log.level,
  };
  const child = await startChild({
    command: process.execPath,
    args: [...FLAGS, entry],
    logFile,
    pidFile,
    piped: true,
  });
  try {
    const { stdin, stdout } = child.process;
    if (stdin === null || stdout === null) throw new Error('the API process was started without pipes');
    stdin.on('error', () => {}); // the exit of the process is handled instead
    stdin.write(`${JSON.stringify(order)}\n`);
    const { url, waitingFor } = await readReply(stdout, child, logFile);
    options.log.debug({ pid: child.pid, url }, 'api started');
    if (waitingFor !== undefined) {
      options.log.warn({ reason: waitingFor }, 'the database of the bundled API is away: it waits for it');
    }
    const { pid, exited, stop, abandon } = child;
    return { pid, exited, stop, abandon, url, port };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

type ReadyReply = Extract<ApiReply, { kind: 'ready' }>;

async function readReply(stdout: Readable, child: Child, logFile: string): Promise<ReadyReply> {
  const answer = await withTimeout(
    readFirstLine(stdout).then(async (line) => line ?? (await child.exited)),
    READY_TIMEOUT_MS,
    () =>
      new UnavailableError(
        `The bundled API was not ready within ${READY_TIMEOUT_MS / 1000} s. ${renderLogTail(logFile)}`,
      ),
  );
  if (!('kind' in answer)) {
    throw new UnavailableError(
      `The bundled API ${describeExit(answer)} while starting. ${renderLogTail(logFile)}`,
    );
  }
  if (answer.kind === 'ready') return answer;
  const message = `The bundled API cannot start: ${answer.message}`;
  throw answer.code === 'config' ? new ConfigError(message) : new UnavailableError(message);
}

/** Undefined when the child closed its stdout without a reply. */
function readFirstLine(stdout: Readable): Promise<ApiReply | undefined> {
  return new Promise((settle, fail) => {
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      try {
        settle(apiReply.parse(JSON.parse(line)));
      } catch (error) {
        fail(error);
      }
    });
    lines.once('close', () => settle(undefined));
  });
}

const renderLogTail = (logFile: string): string =>
  `Last lines of its log, ${logFile}:\n${readLogTail(logFile)}`;
