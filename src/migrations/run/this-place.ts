import { hostname } from 'node:os';
import { readPidSpace } from '../../lib/pid-space.ts';
import type { Place } from '../lifecycle.ts';

/** Where this process runs. A host name is not enough: containers and copies of a machine may have the same. */
export const THIS_PLACE: Place = toPlace(readPidSpace());

function toPlace(pids: string | undefined): Place {
  return { host: hostname(), ...(pids === undefined ? {} : { pids }) };
}

/** Whether a process of this place exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
