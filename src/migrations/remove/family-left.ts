import type { Staging } from '../../contract/staging.ts';
import { layout } from '../../state/keys/migration.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { loadFamily } from '../rejects/family.ts';
import { canBeReplayed } from '../rejects/rejects.ts';
import { removeAll } from './remove-all.ts';

/** Others of the family of a migration: the one that its events name, and all replays. */
export interface FamilyLeft {
  /** Whether any can still send something: it was not removed, or its rejects were kept. */
  readonly hasOthers: boolean;
  /** Those that cannot. */
  readonly removed: readonly MigrationRecord[];
}

export async function findFamilyLeft(staging: Staging, record: MigrationRecord): Promise<FamilyLeft> {
  const removed: MigrationRecord[] = [];
  let hasOthers = false;
  for (const other of await loadFamily(staging, record)) {
    if (other.id === record.id) continue;
    if (await canBeReplayed(staging, other.name)) hasOthers = true;
    else removed.push(other);
  }
  return { hasOthers, removed };
}

/** With the last of a family nothing is sent any more that they could be compared with. */
export async function removeFingerprints(
  staging: Staging,
  removed: readonly MigrationRecord[],
): Promise<void> {
  for (const { name } of removed) {
    const { allFingerprints, foldResult } = layout(name);
    await removeAll(staging, allFingerprints, () => false);
    await staging.remove(foldResult);
  }
}
