import { migrationKey } from '../../state/checkpoints.ts';
import type { MigrationRuntime, MigrationStore } from '../migration-runtime.ts';
import { readHeldSince, whileHeld } from '../run/held-key.ts';

const claimKey = (name: string): string => migrationKey(`schedule:${name}`);

/** Does work as the one run of a schedule. Throws RefusedError where another one is under way. */
export const whileClaimed = <T>(
  { redis }: Pick<MigrationRuntime, 'redis'>,
  name: string,
  work: () => Promise<T>,
): Promise<T> => whileHeld(claimKey(name), name, redis, work);

/**
 * Since when the schedules of these migrations are run, ISO 8601, by name: those that a process runs now. None where
 * no Redis answers.
 */
export async function findRunning(
  { askRedis }: Pick<MigrationStore, 'askRedis'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const running = new Map<string, string>();
  if (names.length === 0) return running;
  const found = await askRedis((redis) =>
    Promise.all(names.map((name) => readHeldSince(redis, claimKey(name)))),
  ).catch(() => undefined);
  for (const [index, name] of names.entries()) {
    const since = found?.[index];
    if (since !== undefined) running.set(name, since);
  }
  return running;
}
