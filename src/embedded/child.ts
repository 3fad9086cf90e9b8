import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { tryParseJson } from '../lib/json/parse-json.ts';
import { putPrivateFile, readTextIfThere } from './private-file.ts';
import { isAlive, processIdentity, readProcessIdentity } from './process-identity.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running child process. */
export interface Child {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** SIGTERM, then SIGKILL when it has not ended within the timeout. Resolves when it has ended. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, for a folder that another process has by now: nothing is written or removed there any more. */
  readonly abandon: () => void;
}

export interface ChildPlan {
  readonly command: string;
  readonly args: readonly string[];
  /** Receives the child's stderr (and stdout, unless that is piped). */
  readonly logFile: string;
  /** Identifies the running child, so that the next owner of the folder finds one that was left running. */
  readonly pidFile: string;
  /** Pipes stdin and stdout to the caller. @default false */
  readonly piped?: boolean;
}

const STOP_TIMEOUT_MS = 10_000;
const LOG_MAX_BYTES = 5_000_000;
const LOG_TAIL_BYTES = 2_000;

/** Rejects when the program cannot be started at all. */
export async function startChild(plan: ChildPlan): Promise<Child & { readonly process: ChildProcess }> {
  const log = openLog(plan.logFile);
  const stdio = plan.piped === true ? (['pipe', 'pipe', log] as const) : (['ignore', log, log] as const);
  // In its own session: Ctrl-C in the terminal must reach the run, which saves first and stops its children
  // last, and not the Redis that it saves to.
  const child = spawn(plan.command, plan.args, { stdio: [...stdio], detached: true });
  closeSync(log);
  let isAbandoned = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!isAbandoned) rmSync(plan.pidFile, { force: true });
      resolve({ code, signal });
    });
  });
  const { pid } = child;
  if (pid === undefined) throw (await once(child, 'error'))[0];
  const identity = readProcessIdentity(pid);
  if (identity !== undefined) putPrivateFile(plan.pidFile, JSON.stringify(identity));
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  const abandon = () => {
    isAbandoned = true;
    child.kill('SIGKILL');
  };
  return { pid, process: child, exited, stop, abandon };
}

/**
 * Stops the child of a killed owner. It may still write to its files (a Redis flushing its log), so nothing
 * may be started on the same files before it has ended.
 */
export async function stopLeftover(pidFile: string): Promise<void> {
  const text = readTextIfThere(pidFile);
  if (text === undefined) return;
  // A file that a crash of the machine left empty names nobody: what ran then is gone.
  const parsed = z.safeParse(processIdentity, tryParseJson(text));
  if (parsed.success && isAlive(parsed.data)) {
    const { pid } = parsed.data;
    const kill = (signal: NodeJS.Signals) => {
      try {
        process.kill(pid, signal);
      } catch {
        // it ended before the signal
      }
    };
    kill('SIGTERM');
    const timer = setTimeout(kill, STOP_TIMEOUT_MS, 'SIGKILL');
    while (isAlive(parsed.data)) await sleep(20);
    clearTimeout(timer);
  }
  rmSync(pidFile, { force: true });
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

/** The last lines of a child's log, for an error message. */
export function readLogTail(logFile: string): string {
  try {
    const tail = readFileSync(logFile).subarray(-LOG_TAIL_BYTES).toString('utf8').trim();
    return tail.split('\n').slice(-8).join('\n');
  } catch {
    return '(no log)';
  }
}

function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return openSync(path, size > LOG_MAX_BYTES ? 'w' : 'a', 0o600);
}
