import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { Fingerprints } from '../../pipeline/fingerprints.ts';
import { createRecordParser } from '../../sources/formats/parse-record.ts';
import type { MapRecord } from '../../sources/source.ts';
import { encodeDocument, loadDocument } from '../../state/document.ts';
import { layout } from '../../state/keys.ts';
import { listParts, loadPart } from '../../state/parts.ts';
import { listReceipts } from '../../state/receipts.ts';

export interface CountEventsInput {
  readonly staging: Staging;
  readonly name: string;
  /** Staged records of the migration, all of them. */
  readonly records: number;
  readonly map: MapRecord;
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
  const { staging, name, records, map, onPart } = input;
  const key = layout(name).volume;
  const known = await loadDocument(volume, key, staging);
  if (known?.records === records) return known.events;

  const { prefix } = layout(name);
  let parts = 0;
  let events = 0;
  for await (const part of listParts(staging, prefix)) {
    await onPart(parts);
    const { header, records: frames } = await loadPart(staging, prefix, part);
    const parse = createRecordParser(part.format, header);
    const fingerprints = new Fingerprints(part.records);
    let number = -1;
    for (const record of frames) {
      number += 1;
      const parsed = parse(record);
      const outcome = parsed.kind === 'rejected' ? parsed : map(parsed.value);
      if (outcome.kind !== 'mapped') continue;
      if (fingerprints.add(number, outcome.events) !== undefined) continue; // a repeat is not sent
      events += outcome.events.length;
    }
    parts += 1;
    await nextTurn(); // lets the lease be renewed
  }
  await staging.put(key, encodeDocument({ records, events }));
  return events;
}

/** Events that parts with a receipt have sent. */
export async function countAccepted(staging: Staging, name: string): Promise<number> {
  let accepted = 0;
  for await (const { tally } of listReceipts(staging, name)) accepted += tally.events.accepted;
  return accepted;
}
