import { z } from 'zod';
import type { PartMeta } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { BatchBuilder } from '../../deliver/batch-builder.ts';
import { Fingerprints } from '../../pipeline/fingerprints.ts';
import { mapToBatches } from '../../pipeline/map-to-batches.ts';
import { Outcomes } from '../../pipeline/outcomes.ts';
import { createBytesParser } from '../../sources/formats/parse-record.ts';
import type { ImportMap } from '../../sources/source.ts';
import { encodeDocument, loadDocument } from '../../state/document.ts';
import { layout } from '../../state/keys/migration.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import { createIsOwnSlice, type MigrationRecord } from '../../state/migrations.ts';
import type { PartRecords } from '../../state/part-records.ts';
import { listParts, loadPart } from '../../state/parts.ts';
import { listReceipts } from '../../state/receipts.ts';

export interface CountEventsInput {
  readonly staging: Staging;
  readonly record: MigrationRecord;
  /** Staged records of the migration, all of them. */
  readonly records: number;
  readonly toMap: (part: PartMeta) => ImportMap;
  /** Called before each part; throws when counting must stop. */
  readonly onPart: (partsDone: number) => Promise<void>;
}

/** Kept, so that a resume need not count again. `records`: of the parts that were counted. */
const volume = z.strictObject({ records: z.number(), events: z.number() });

/**
 * Maps every staged record and sends nothing. Returns the events that an import would send for them, without
 * the synthetic ones, which are known when all identity facts are folded.
 */
export async function countEvents(input: CountEventsInput): Promise<number> {
  const { staging, record, records, toMap, onPart } = input;
  const { volume: toKey } = layout(record.name);
  const known =
    (await loadDocument(volume, toKey(record.id), staging)) ?? (await loadDocument(volume, toKey(), staging));
  if (known?.records === records) return known.events;

  const prefix = toPartsPrefix(record);
  const isOwn = createIsOwnSlice(record);
  let parts = 0;
  let events = 0;
  for await (const part of listParts(staging, prefix)) {
    if (!isOwn(part.fileId)) continue;
    await onPart(parts);
    const records = await loadPart(staging, prefix, part);
    events += await countPart(records, part, toMap(part));
    records.release();
    parts += 1;
  }
  await staging.put(toKey(record.id), encodeDocument({ records, events }));
  return events;
}

/** Batches are made and thrown away, because only making them shows what is sent. */
async function countPart(records: PartRecords, { format }: PartMeta, map: ImportMap): Promise<number> {
  const batches = new BatchBuilder();
  const mapped = mapToBatches(records, 0, {
    parse: createBytesParser(format, records.header, map.viewFields),
    map,
    batches,
    outcomes: new Outcomes(records.count),
    facts: { add: () => {}, addUser: () => {}, addSeen: () => {} },
    fingerprints: new Fingerprints(records.count),
  });
  let events = 0;
  for await (const { batch } of mapped) {
    if (!batch) continue;
    events += batch.offsets.length - 1;
    batches.release(batch);
  }
  batches.close();
  return events;
}

/** Events that parts with a receipt have sent. */
export async function countAccepted(staging: Staging, name: string): Promise<number> {
  let accepted = 0;
  for await (const { tally } of listReceipts(staging, name)) accepted += tally.events.accepted;
  return accepted;
}
