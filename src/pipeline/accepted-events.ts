import type { Batch } from '../contract/delivery.ts';
import type { PartMeta } from '../contract/part.ts';
import type { Receipt } from '../contract/progress.ts';
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
import { readRejects } from '../state/rejects/rejects.ts';
import { loadSentBefore, type SentOfRecord } from '../state/rejects/sent-before.ts';
import { Fingerprints } from './fingerprints.ts';
import { mapToBatches } from './map-to-batches.ts';
import { Outcomes } from './outcomes.ts';

export interface AcceptedEventsInput {
  readonly staging: Staging;
  readonly record: MigrationRecord;
  /** By `idFrom` of the part, as for its import. */
  readonly toMap: (part: PartMeta, idFrom: PartMeta['idFrom']) => ImportMap;
  readonly stamp?: Stamp | undefined;
}

/** The destination may have begun to refuse one of them. */
const MOST = 3;
/** No event of a record is sent. */
const NONE: SentOfRecord = { accepted: new Set(), sends: new Set() };

/**
 * A few events as they were sent from a part that is imported, each as a batch, and accepted. None where no part has
 * delivered anything. A reject is none of them: it may be taken by now, and may have been replayed under another map.
 */
export async function loadAcceptedEvents(input: AcceptedEventsInput): Promise<readonly Batch[]> {
  const { staging, record } = input;
  const prefix = toPartsPrefix(record);
  for await (const receipt of listReceipts(staging, record.name)) {
    if (!isReceiptOf(receipt, record.id) || receipt.tally.counts.delivered === 0) continue;
    const part = await loadPartMeta(staging, prefix, receipt.part);
    if (!part) continue;
    const unsent = await loadUnsent(receipt, input);
    const records = await loadPart(staging, prefix, part);
    try {
      const found = await mapFirst(records, part, unsent, input);
      if (found.length > 0) return found;
    } finally {
      records.release();
    }
  }
  return [];
}

/** Of the records of a part, what of them is not to be sent: as in its import, and nothing of its rejects. */
async function loadUnsent(
  { part, rejectSegments }: Pick<Receipt, 'part' | 'rejectSegments'>,
  { staging, record }: AcceptedEventsInput,
): Promise<ReadonlyMap<number, SentOfRecord>> {
  const unsent = new Map(await loadSentBefore(staging, record.name, part));
  for (const segment of rejectSegments)
    for (const reject of await readRejects(staging, segment)) unsent.set(reject.record, NONE);
  return unsent;
}

async function mapFirst(
  records: PartRecords,
  part: PartMeta,
  sentBefore: ReadonlyMap<number, SentOfRecord>,
  { toMap, stamp }: AcceptedEventsInput,
): Promise<readonly Batch[]> {
  const map = toMap(part, part.idFrom);
  const batches = new BatchBuilder({ ...DEFAULT_BATCH_LIMITS, events: 1 });
  const mapped = mapToBatches(records, 0, {
    ...{ map, batches, stamp, sentBefore, vendorMap: toMap(part, undefined) },
    hasOwnIds: part.idFrom === 'record',
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
