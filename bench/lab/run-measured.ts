import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endAtExit } from './at-exit.ts';
import { readTree } from './process-tree.ts';

export interface Measured {
  /** User and system time of the command and of all processes that it started and waited for. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** The highest resident memory of any one of its processes. Undefined where there is no /proc. */
  readonly peakMb: number | undefined;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Services whose CPU time is part of the cost, such as Redis. */
  readonly services?: readonly number[];
}

const SAMPLE_MS = 50;

/**
 * Runs a command to its end. A shell around it reports the CPU time, because it knows that of processes that
 * the command itself has waited for (`times`, POSIX), in steps of 10 ms.
 */
export async function runMeasured(
  command: readonly string[],
  { env = {}, cwd, services = [] }: RunOptions = {},
): Promise<Measured> {
  const before = sumServices(services);
  const startedMs = performance.now();
  const child = spawn('sh', ['-c', '"$@"; code=$?; echo; times; exit $code', 'sh', ...command], {
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what the shell has started ends with it.
    detached: true,
  });
  const hasEnded = endAtExit(() => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  let peakMb: number | undefined;
  const sample = () => {
    const usage = child.pid === undefined ? undefined : readTree(child.pid);
    if (usage !== undefined) peakMb = Math.max(peakMb ?? 0, usage.peakMb);
  };
  const sampling = setInterval(sample, SAMPLE_MS);
  const [code]: unknown[] = await once(child, 'close');
  clearInterval(sampling);
  hasEnded();
  const wallMs = performance.now() - startedMs;
  const { text, cpuMs } = splitTimes(stdout);
  return {
    cpuMs: cpuMs + sumServices(services) - before,
    wallMs,
    peakMb,
    code: typeof code === 'number' ? code : null,
    stdout: text,
    stderr,
  };
}

const sumServices = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + (readTree(pid)?.cpuMs ?? 0), 0);

/** `times` prints two lines: of the shell itself, and of its children; `0m1.230000s 0m0.400000s`. */
export function splitTimes(stdout: string): { readonly text: string; readonly cpuMs: number } {
  const lines = stdout.trimEnd().split('\n');
  const children = lines.at(-1) ?? '';
  const cpuMs = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
  return { text: lines.slice(0, -3).join('\n'), cpuMs };
}
