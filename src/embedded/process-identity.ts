import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { readPidSpace } from '../lib/pid-space.ts';

/** Pids are reused; together with its start time, a pid identifies one process permanently. */
export const processIdentity = z.strictObject({
  pid: z.number().int().positive(),
  /** Opaque: boot and start time of the process. */
  started: z.string(),
  /** Pids have no meaning on another machine or in another container. */
  host: z.string(),
  /** Tells containers and machines apart that have one host name; absent in what earlier versions wrote. */
  pids: z.string().exactOptional(),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;

/** Undefined when no such process runs; a zombie waiting for its parent counts as gone. */
export function readProcessIdentity(pid: number): ProcessIdentity | undefined {
  const started = readLinuxStart(pid) ?? readPsStart(pid);
  if (started === undefined) return undefined;
  const pids = readPidSpace();
  return { pid, started, host: hostname(), ...(pids === undefined ? {} : { pids }) };
}

export function readOwnIdentity(): ProcessIdentity {
  const own = readProcessIdentity(process.pid);
  if (own === undefined) throw new Error('this process is listed neither in /proc nor by ps');
  return own;
}

export function isAlive(identity: ProcessIdentity): boolean {
  return readProcessIdentity(identity.pid)?.started === identity.started;
}

function readLinuxStart(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command is in parentheses and may contain spaces and parentheses: fields start after the last ')'.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTicks = rest[18];
    if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
    return `${readBootId()}/${startTicks}`;
  } catch {
    return undefined;
  }
}

/** Differs after every start of the machine; undefined where the system does not tell. */
export function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

function readPsStart(pid: number): string | undefined {
  if (process.platform === 'linux') return undefined;
  try {
    const [state = 'Z', ...started] = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .trim()
      .split(/\s+/);
    return state.startsWith('Z') ? undefined : started.join(' ');
  } catch {
    return undefined; // ps exits with 1 when there is no such pid
  }
}
