import type { FingerprintIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadControl } from '../../state/control.ts';
import { layout, toPartsPrefix } from '../../state/keys.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listReceipts } from '../../state/receipts.ts';
import { readRejects } from '../../state/rejects/rejects.ts';
import { createGeneration, loadRepeatsIfWhole } from '../../state/repeats.ts';
import { loadFamily } from '../rejects/family.ts';

/** A part that another migration of the family has sent: that which is replayed, or another replay of it. */
export interface OtherPart {
  readonly part: string;
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
export async function listOtherParts(staging: Staging, record: MigrationRecord): Promise<OtherPart[]> {
  const found: OtherPart[] = [];
  for (const other of await loadFamily(staging, record)) {
    if (other.id === record.id || (await loadControl(staging, other))?.state === 'removed') continue;
    const generations = createGeneration();
    const rejected = new Map<string, Map<number, readonly string[] | undefined>>();
    /** Of records that were refused in part, the accepted events that collide. */
    const refused = new Map<string, Map<number, readonly string[]>>();
    for await (const receipt of listReceipts(staging, other.name)) {
      generations.add(receipt);
      const { part, file, byFile, fingerprints: index, tally } = receipt;
      if (!index) continue;
      found.push({
        ...{ part, file, hasPieces: byFile !== undefined, prefix: toPartsPrefix(other), index },
        names: Object.keys(tally.byEvent),
        isRejected(record, eventKey) {
          if (eventKey !== undefined && refused.get(part)?.get(record)?.includes(eventKey)) return true;
          const records = rejected.get(part);
          if (!records?.has(record)) return false;
          return eventKey === undefined || records.get(record)?.includes(eventKey) !== true;
        },
      });
    }
    const { name, rows } = generations.end();
    const repeats = await loadRepeatsIfWhole(staging, layout(other.name).repeatsResult(name), rows);
    for (const segment of repeats?.rejectSegments ?? []) {
      for (const { part, record, stays, accepted } of await readRejects(staging, segment)) {
        if (stays) continue;
        const records = rejected.get(part) ?? new Map<number, readonly string[] | undefined>();
        rejected.set(part, records.set(record, accepted));
      }
    }
    for (const { part, record, colliding } of repeats?.partly ?? []) {
      const records = refused.get(part) ?? new Map<number, readonly string[]>();
      refused.set(part, records.set(record, colliding));
    }
  }
  return found;
}
