import type { Staging } from '../../contract/staging.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listRejects, type ReplayedBy } from './rejects.ts';
import { listReplays } from './replayed.ts';

/** Of a migration whose rejects were replayed. */
export interface RejectsLeft {
  readonly replays: readonly ReplayedBy[];
  /** Rejects that no replay has in its books. */
  readonly left: number;
}

/** Reads all rejects only where a replay has begun, or has another state, since the last call; undefined without replays. */
export function createRejectsLeft(
  staging: Staging,
): (record: MigrationRecord) => Promise<RejectsLeft | undefined> {
  let known: { readonly of: string; readonly found: RejectsLeft } | undefined;
  return async (record) => {
    const replays = await listReplays(staging, record);
    if (replays.length === 0) return undefined;
    const of = replays.map(({ record: { name }, state }) => `${name} ${state}`).join();
    if (known?.of === of) return known.found;
    const { reasons, replays: having } = await listRejects({ staging }, record.name);
    const found = { replays: having, left: reasons.reduce((sum, { left }) => sum + left, 0) };
    known = { of, found };
    return found;
  };
}
