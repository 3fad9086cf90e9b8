import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second that Linux shows in /proc, on all machines that Node.js runs on. */
const TICKS = 100;

export interface TreeUsage {
  readonly cpuMs: number;
  /** The highest peak of resident memory of any process of the tree. */
  readonly peakMb: number;
  /** Resident now, all processes together. */
  readonly residentMb: number;
}

/** Whether this machine shows processes under /proc. */
export const hasProc = (): boolean => readText('/proc/self/stat') !== undefined;

/** A process, its children that still run, and the CPU time of those that ended. Undefined without /proc. */
export function readTree(pid: number): TreeUsage | undefined {
  const own = readProcess(pid);
  if (own === undefined) return undefined;
  return listChildren(pid).reduce((sum, child) => {
    const usage = readTree(child);
    if (usage === undefined) return sum;
    return {
      cpuMs: sum.cpuMs + usage.cpuMs,
      peakMb: Math.max(sum.peakMb, usage.peakMb),
      residentMb: sum.residentMb + usage.residentMb,
    };
  }, own);
}

function readProcess(pid: number): TreeUsage | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const status = readText(`/proc/${pid}/status`);
  if (stat === undefined || status === undefined) return undefined;
  // The name in brackets may contain blanks: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  const readMb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { cpuMs: (ticks * 1000) / TICKS, peakMb: readMb('VmHWM'), residentMb: readMb('VmRSS') };
}

/** Children of every thread: a process is the child of the thread that started it. */
function listChildren(pid: number): number[] {
  return listThreads(pid).flatMap((thread) =>
    (readText(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
