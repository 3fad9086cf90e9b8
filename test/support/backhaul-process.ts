import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { services } from '../../src/embedded/services.ts';
import { type Report, report as reportSchema } from '../../src/migrations/report/report.ts';
import { ALL } from './form.ts';
import { until } from './until.ts';
import { killWarmCommands, runWarm } from './warm-commands.ts';

const ENTRY = fileURLToPath(new URL('../../src/setup/backhaul.mjs', import.meta.url));

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running `backhaul` command: the real one, in a process of its own. */
export interface BackhaulProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  isRunning(): boolean;
  /** Quietly does nothing once the process has ended. */
  kill(signal: NodeJS.Signals): void;
  stderr(): string;
}

export interface BackhaulOptions {
  readonly dataDir: string;
  /** Added to PATH and HOME; nothing else of the test's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder, for startBackhaul. @default that of the test */
  readonly cwd?: string;
  /** File descriptors in place of pipes, for startBackhaul. */
  readonly stdout?: number;
  readonly stderr?: number;
}

const running = new Set<ChildProcess>();

export function startBackhaul(args: readonly string[], options: BackhaulOptions): BackhaulProcess {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    env: toEnvironment(options),
    cwd: options.cwd,
    stdio: ['ignore', options.stdout ?? 'pipe', options.stderr ?? 'pipe'],
  });
  running.add(child);
  const { pid } = child;
  if (pid === undefined) throw new Error('node itself cannot be started');
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    pid,
    ended,
    isRunning: () => running.has(child),
    kill: (signal) => void child.kill(signal),
    stderr: () => stderr,
  };
}

/**
 * Runs a command to its end. In the long form it is a process of its own; `npm test` saves its start
 * (warm-commands.ts) and has processes of their own wherever startBackhaul is called.
 */
export const runBackhaul = (args: readonly string[], options: BackhaulOptions): Promise<Ended> =>
  ALL ? startBackhaul(args, options).ended : runWarm(ENTRY, args, toEnvironment(options));

const toEnvironment = ({ dataDir, env = {} }: BackhaulOptions): Record<string, string> => {
  const { PATH, HOME, BACKHAUL_REDIS_SERVER } = process.env;
  const kept = Object.entries({ PATH, HOME, BACKHAUL_REDIS_SERVER }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return {
    ...Object.fromEntries(kept),
    BACKHAUL_DATA_DIR: dataDir,
    BACKHAUL_LOG_LEVEL: 'warn',
    ...env,
  };
};

/** For afterEach: nothing that a failed test started outlives it. Embedded parts end with their owner. */
export async function killAllBackhaul(): Promise<void> {
  await Promise.all([
    killWarmCommands(),
    ...[...running].map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      return closed;
    }),
  ]);
}

/** The document on the last line of stdout, checked against the shape that scripts rely on. */
export function parseReport(ended: Ended): Report {
  const last = ended.stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    return reportSchema.parse(JSON.parse(last));
  } catch (error) {
    throw new Error(`no report on stdout; exit ${ended.code ?? ended.signal}, stderr:\n${ended.stderr}`, {
      cause: error,
    });
  }
}

/** What the owner of a data folder has published; waits until it has, as long as the product itself does. */
export function waitForServices(dataDir: string, owner: BackhaulProcess) {
  const look = () => {
    if (!owner.isRunning()) throw new Error(`backhaul ended before it published:\n${owner.stderr()}`);
    const parsed = services.safeParse(readJson(join(dataDir, 'services.json')));
    return parsed.data;
  };
  return until(`services in ${dataDir}`, look, 120_000);
}

/** Pid of an embedded part; undefined while there is none. */
export function readPid(dataDir: string, part: 'redis' | 'api'): number | undefined {
  const content = readJson(join(dataDir, part === 'redis' ? 'redis/redis.pid.json' : 'api.pid.json'));
  return (content as { pid?: number } | undefined)?.pid;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
