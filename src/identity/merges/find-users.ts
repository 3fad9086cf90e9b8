import { joinTimes } from '../../contract/heard-time.ts';
import type { KeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { KnownId } from '../known-id.ts';
import type { UserTimes } from './user-times.ts';
import type { DeviceAtLedger, UserSeen } from './users-seen.ts';

/** Users of an id, each with the first time. */
export interface UsersFound extends Pick<DeviceAtLedger, 'paired' | 'said'> {
  /** By pair or by verdict. */
  readonly all: readonly UserSeen[];
  /** Hashes of earlier names under which users were seen. */
  readonly names: ReadonlySet<string>;
}

const NOBODY: ReadonlyMap<string, string> = new Map();
export const NO_NAMES: ReadonlySet<string> = new Set();
export const NO_ONE: readonly UserSeen[] = [];
export const NO_USERS: UsersFound = { all: NO_ONE, paired: NOBODY, said: NOBODY, names: NO_NAMES };

/** Users that have another id by now, and that id; it has no other one itself. */
export type Renames = ReadonlyMap<string, string>;
export const NO_RENAMES: Renames = new Map();

/**
 * The users that an id was seen with, each under the id that it has by now, and those that the vendor takes it for.
 * So nothing is merged into an earlier id of a user, which the destination would then refuse to merge.
 */
export function findUsers(
  id: string,
  { pairs, verdicts, waitingVerdicts, named }: KnownId,
  renames: Renames,
  hash: KeyedHash,
): UsersFound {
  if (!waitingVerdicts && renames.size === 0) {
    if (!verdicts)
      return { all: pairs?.list() ?? NO_ONE, paired: pairs ?? NOBODY, said: NOBODY, names: NO_NAMES };
    const one = findOnly(pairs, verdicts);
    if (one && !one.has(id))
      return { all: one.list(), paired: pairs ?? NOBODY, said: verdicts, names: named ?? NO_NAMES };
  }
  const all = new Map<string, string>();
  const add = (users: Map<string, string>, user: string, time: string) => {
    const known = users.get(user);
    if (user !== id) users.set(user, known === undefined ? time : joinTimes(known, time));
  };
  const paired = new Map<string, string>();
  let names: ReadonlySet<string> = named ?? NO_NAMES;
  for (const [user, time] of pairs?.list() ?? NO_ONE) {
    const name = renames.get(user);
    if (name !== undefined) names = new Set([...names, hash.id(user).toString('hex')]);
    add(paired, name ?? user, time);
  }
  const said = new Map<string, string>();
  for (const users of [verdicts, waitingVerdicts])
    for (const [user, time] of users?.list() ?? NO_ONE) add(said, user, time);
  for (const users of [paired, said]) for (const [user, time] of users) add(all, user, time);
  return { all: [...all], paired, said, names };
}

/**
 * Of an id with one user, whom the vendor names and perhaps records as well: whichever list has the time of both. Most
 * devices are such.
 */
function findOnly(seen: UserTimes | undefined, verdict: UserTimes): UserTimes | undefined {
  if (verdict.size !== 1 || (seen && seen.size > 1)) return undefined;
  const [one] = seen?.list() ?? NO_ONE;
  if (!seen || !one) return verdict;
  const [user, time] = one;
  const said = verdict.get(user);
  if (said === undefined) return undefined;
  const joined = joinTimes(time, said);
  if (joined === time) return seen;
  return joined === said ? verdict : undefined;
}
