import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Place } from '../lifecycle.ts';

/** Where this process runs. A host name is not enough: containers and copies of a machine may have the same. */
export const THIS_PLACE: Place = { host: hostname(), ...readPids() };

/** On Linux this start of the machine and this namespace of pids; elsewhere there are no namespaces of them. */
function readPids(): Pick<Place, 'pids'> {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const space = `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
    return { pids: createHash('sha256').update(space).digest('hex').slice(0, 16) };
  } catch {
    return {};
  }
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
