import type { FingerprintIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadControl } from '../../state/control.ts';
import { layout } from '../../state/keys/migration.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listReceipts } from '../../state/receipts.ts';
import { readRejects } from '../../state/rejects/rejects.ts';
import { createGeneration, loadRepeatsIfWhole, type Repeats } from '../../state/repeats.ts';
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
  /** Whether its migration rejected a record because of an event of it, or because of the record itself. */
  readonly isRejected: (record: number, eventKey: string | undefined) => boolean;
}

/**
 * What a replay, its migration and the other replays of it have sent, without that of `record` itself. Their uuids do
 * not depend on which of them sends a record. What was removed has no fingerprints any more.
 */
export async function listOtherParts(staging: Staging, record: MigrationRecord): Promise<SentPart[]> {
  const found: SentPart[] = [];
  for (const other of await loadFamily(staging, record))
    if (other.id !== record.id && (await loadControl(staging, other))?.state !== 'removed')
      found.push(...(await listSentParts(staging, other)).parts);
  return found;
}

/**
 * What members of its family have sent of which no record is left: they were removed, and their fingerprints kept with
 * their rejects.
 */
export async function listGoneParts(staging: Staging, record: MigrationRecord): Promise<SentPart[]> {
  const found: SentPart[] = [];
  for (const each of await loadFamily(staging, record)) {
    if ((await loadControl(staging, each))?.state !== 'removed') continue;
    const kept = new Set<string>();
    for await (const { key } of staging.list(layout(each.name).allFingerprints)) kept.add(key);
    if (kept.size === 0) continue;
    const { parts } = await listSentParts(staging, each);
    found.push(...parts.filter(({ index }) => kept.has(index.key)));
  }
  return found;
}

/** What a migration has sent, and what folding it found; undefined where it is not folded. */
export async function listSentParts(
  staging: Staging,
  migration: MigrationRecord,
): Promise<{ readonly parts: SentPart[]; readonly repeats: Repeats | undefined }> {
  const parts: SentPart[] = [];
  const generations = createGeneration();
  /** Of records of several events, the keys of those that it rejected. */
  const rejected = new Map<string, Map<number, readonly string[] | undefined>>();
  for await (const receipt of listReceipts(staging, migration.name)) {
    generations.add(receipt);
    const { part, file, byFile, fingerprints: index, tally } = receipt;
    if (!index) continue;
    parts.push({
      ...{ part, file, hasPieces: byFile !== undefined, migration, prefix: toPartsPrefix(migration), index },
      names: Object.keys(tally.byEvent),
      isRejected(record, eventKey) {
        const records = rejected.get(part);
        if (!records?.has(record)) return false;
        const keys = records.get(record);
        if (keys === undefined) return true;
        return eventKey === undefined ? keys.length > 0 : keys.includes(eventKey);
      },
    });
  }
  const { name, rows } = generations.end();
  const repeats = await loadRepeatsIfWhole(staging, layout(migration.name).repeatsResult(name), rows);
  for (const segment of repeats?.rejectSegments ?? []) {
    for (const { part, record, stays, sends, staying = [] } of await readRejects(staging, segment)) {
      if (stays && !sends) continue;
      const records = rejected.get(part) ?? new Map<number, readonly string[] | undefined>();
      rejected.set(
        part,
        records.set(
          record,
          sends?.filter((key) => !staying.includes(key)),
        ),
      );
    }
  }
  return { parts, repeats };
}
