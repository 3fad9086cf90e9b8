import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Where a pid means the same process: on Linux this start of the machine and this namespace of pids. Undefined elsewhere,
 * where there are no such namespaces.
 */
export function readPidSpace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const space = `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
    return createHash('sha256').update(space).digest('hex').slice(0, 16);
  } catch {
    return undefined;
  }
}
