import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Which processors a contender uses, and which are left to what it talks to. */
export interface Pinning {
  /** In front of a command: `taskset -c 0`, or nothing where there is no taskset. */
  contender(cores: number): readonly string[];
  readonly others: readonly string[];
  /** How the machine was divided, or why it was not. */
  readonly note: string;
}

export function createPinning(): Pinning {
  const cpus = availableParallelism();
  if (!hasTaskset()) {
    return {
      contender: () => [],
      others: [],
      note: 'There is no taskset here: nothing is pinned, and "1 core" means whatever the scheduler gives.',
    };
  }
  if (cpus === 1) {
    return {
      contender: () => [],
      others: [],
      note: 'This machine has one processor: the destination and Redis share it with the contender.',
    };
  }
  const last = cpus - 1;
  return {
    contender: (cores) => ['taskset', '-c', `0-${Math.min(cores, cpus) - 1}`],
    others: ['taskset', '-c', cpus > 2 ? `2-${last}` : '1'],
    note:
      cpus > 2
        ? 'Contenders run on processor 0 (and 1); destination and Redis on the others.'
        : 'Contenders run on processor 0, destination and Redis on processor 1; with 2 cores they share both.',
  };
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-c', '0', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
