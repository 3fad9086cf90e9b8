import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { loadControl } from '../../state/control.ts';
import { layout } from '../../state/keys/migration.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { type State, toState } from '../lifecycle.ts';
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

/** It has begun to send, or is about to, and whoever is removed meanwhile is not compared with what it has sent. */
const SENDING: ReadonlySet<State> = new Set<State>(['created', 'running', 'stopped', 'paused']);

/**
 * Throws ConfigError while another one of the family is under way. What it has sent of a part is compared with what the
 * others have delivered once all of it is in; a record of theirs that collides must still be there then.
 */
export async function assertNoneIsSending(staging: Staging, record: MigrationRecord): Promise<void> {
  for (const other of await loadFamily(staging, record)) {
    if (other.id === record.id) continue;
    if (!SENDING.has(toState(other, await loadControl(staging, other.name)))) continue;
    throw new ConfigError(
      `migration "${other.name}" has not finished, and an event of it may have the uuid of one that "${record.name}" has delivered: without its records nobody could send both; finish it first with "backhaul resume ${other.name}", or give it up with "backhaul cancel ${other.name}"`,
    );
  }
}

/** Which project has accepted its events, and with which key it hashes personal data, both as fingerprints. */
export function listMarks({ id, name }: Pick<MigrationRecord, 'id' | 'name'>): string[] {
  const { accepted, hashKey } = layout(name);
  return [accepted(id), accepted(), hashKey(id), hashKey()];
}

/** With the last of a family nothing is sent any more that they could be compared with. */
export async function removeFingerprints(
  staging: Staging,
  removed: readonly MigrationRecord[],
): Promise<void> {
  for (const record of removed) {
    const { allFingerprints, foldResult } = layout(record.name);
    await removeAll(staging, allFingerprints, () => false);
    for (const key of [foldResult, ...listMarks(record)]) await staging.remove(key);
  }
}
