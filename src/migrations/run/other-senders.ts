import type { FingerprintIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadControl } from '../../state/control.ts';
import { listGivenUp } from '../../state/given-up.ts';
import { layout } from '../../state/keys/migration.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listReceipts } from '../../state/receipts.ts';
import { type FoldResult, loadFoldResult } from '../../state/rejects/fold-result.ts';
import { createGeneration } from '../../state/repeats.ts';
import { loadFamily } from '../rejects/family.ts';

/** A part of a migration that has fingerprints. */
export interface SentPart {
  readonly part: string;
  readonly migration: MigrationRecord;
  readonly file: string;
  readonly hasPieces: boolean;
  /** Of the parts of its migration. */
  readonly prefix: string;
  readonly index: FingerprintIndex;
  readonly names: readonly string[];
  /** Its migration was removed, and the records with it. */
  readonly isGone: boolean;
  /** Whether its migration rejected a record because of an event of it, or because of the record itself. */
  readonly isRejected: (record: number, eventKey: string | undefined) => boolean;
}

export type SentRows = Pick<SentPart, 'migration' | 'index' | 'isRejected'>;

/**
 * What a replay, its migration and the other replays of it have sent, without that of `record` itself. Their uuids do
 * not depend on which of them sends a record.
 */
export async function listOtherParts(staging: Staging, record: MigrationRecord): Promise<SentPart[]> {
  const found: SentPart[] = [];
  for (const other of await loadFamily(staging, record))
    if (other.id !== record.id) found.push(...(await listSentParts(staging, other)).parts);
  return found;
}

/**
 * What others of its family have sent, or may have sent, of which no record is left: they were removed, and their
 * fingerprints kept.
 */
export async function listGoneParts(staging: Staging, record: MigrationRecord): Promise<SentRows[]> {
  const found: SentRows[] = [];
  for (const other of await loadFamily(staging, record)) {
    if (other.id === record.id || !(await isRemoved(staging, other))) continue;
    found.push(...(await listSentParts(staging, other)).parts);
    for await (const index of listGivenUp(staging, other.name))
      found.push({ migration: other, index, isRejected: () => false });
  }
  return found;
}

const isRemoved = async (staging: Staging, migration: MigrationRecord): Promise<boolean> =>
  (await loadControl(staging, migration))?.state === 'removed';

const NOTHING_SENT = { parts: [], elsewhere: 0 };

/**
 * What a migration has sent, as far as there are fingerprints; `elsewhere`: events of it that collide only with what
 * others of its family have sent.
 */
export async function listSentParts(
  staging: Staging,
  migration: MigrationRecord,
): Promise<{ readonly parts: readonly SentPart[]; readonly elsewhere: number }> {
  const isGone = await isRemoved(staging, migration);
  const kept = new Set<string>();
  if (isGone) {
    for await (const { key } of staging.list(layout(migration.name).allFingerprints)) kept.add(key);
    if (kept.size === 0) return NOTHING_SENT;
  }
  const parts: SentPart[] = [];
  const generations = createGeneration();
  let rejected: FoldResult['rejected'] = new Map();
  for await (const receipt of listReceipts(staging, migration.name)) {
    generations.add(receipt);
    const { part, file, byFile, fingerprints: index, tally } = receipt;
    if (!index || (isGone && !kept.has(index.key))) continue;
    parts.push({
      ...{ part, file, hasPieces: byFile !== undefined, migration, prefix: toPartsPrefix(migration), index },
      ...{ names: Object.keys(tally.byEvent), isGone },
      isRejected(record, eventKey) {
        const records = rejected.get(part);
        if (!records?.has(record)) return false;
        const keys = records.get(record);
        if (keys === undefined) return true;
        return eventKey === undefined ? keys.size > 0 : keys.has(eventKey);
      },
    });
  }
  const result = await loadFoldResult(staging, migration.name, generations.end());
  ({ rejected } = result);
  return { parts, elsewhere: result.elsewhere };
}
