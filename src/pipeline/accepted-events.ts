import type { Batch } from '../contract/delivery.ts';
import type { PartMeta } from '../contract/part.ts';
import type { Staging } from '../contract/staging.ts';
import { BatchBuilder, DEFAULT_BATCH_LIMITS } from '../deliver/batch-builder.ts';
import { copyEvent } from '../deliver/ranges.ts';
import type { Stamp } from '../deliver/stamp.ts';
import { createBytesParser } from '../sources/formats/parse-record.ts';
import type { ImportMap } from '../sources/source.ts';
import { toPartsPrefix } from '../state/keys/parts.ts';
import type { MigrationRecord } from '../state/migrations.ts';
import type { PartRecords } from '../state/part-records.ts';
import { loadPart, loadPartMeta } from '../state/parts.ts';
import { isReceiptOf, listReceipts } from '../state/receipts.ts';
import { Fingerprints } from './fingerprints.ts';
import { mapToBatches } from './map-to-batches.ts';
import { Outcomes } from './outcomes.ts';

export interface AcceptedEventsInput {
  readonly staging: Staging;
  readonly record: MigrationRecord;
  readonly toMap: (part: PartMeta) => ImportMap;
  readonly stamp?: Stamp | undefined;
}

/** Of one part: one of them may be a reject of it. */
const MOST = 3;

/**
 * A few events as they were sent from a part that is imported, each as a batch: most of them, or all, were accepted.
 * None where no part has delivered anything.
 */
export async function loadAcceptedEvents(input: AcceptedEventsInput): Promise<readonly Batch[]> {
  const { staging, record } = input;
  const prefix = toPartsPrefix(record);
  for await (const receipt of listReceipts(staging, record.name)) {
    if (!isReceiptOf(receipt, record.id) || receipt.tally.counts.delivered === 0) continue;
    const part = await loadPartMeta(staging, prefix, receipt.part);
    if (!part) continue;
    const records = await loadPart(staging, prefix, part);
    try {
      return await mapFirst(records, part, input);
    } finally {
      records.release();
    }
  }
  return [];
}

async function mapFirst(
  records: PartRecords,
  part: PartMeta,
  { toMap, stamp }: AcceptedEventsInput,
): Promise<readonly Batch[]> {
  const map = toMap(part);
  const batches = new BatchBuilder({ ...DEFAULT_BATCH_LIMITS, events: 1 });
  const mapped = mapToBatches(records, 0, {
    ...{ map, batches, stamp },
    parse: createBytesParser(part.format, records.header, map.viewFields),
    outcomes: new Outcomes(records.count),
    facts: { add: () => {}, addUser: () => {}, addSeen: () => {} },
    fingerprints: new Fingerprints(records.count),
  });
  const found: Batch[] = [];
  for await (const { batch } of mapped) {
    if (!batch) continue;
    found.push(copyEvent(batch, 0));
    batches.release(batch);
    if (found.length === MOST) break;
  }
  return found;
}
