import { z } from 'zod';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { encodeDocument, listDocuments, loadDocument } from '../document.ts';
import { layout } from '../keys/migration.ts';
import { recoveryHint } from '../recovery-hint.ts';

const count = z.number().int().nonnegative();

/** Which records of another migration those of a part of a replay are: numbers alone, so they may outlive the records. */
const partOrigins = z.strictObject({
  part: z.string(),
  /** In order of the records of the part. */
  of: z.array(
    z.strictObject({
      part: z.string(),
      records: z.array(count),
      /** For each record, the events of it that are sent (`toEventNumber`). Absent: all that were not accepted. */
      events: z.array(z.array(count)).exactOptional(),
    }),
  ),
});
export type PartOrigins = z.infer<typeof partOrigins>;

/** A record by its part and its number there, and by their keys the events of it that alone are sent. */
export type Origin = Pick<RejectLine, 'part' | 'record' | 'sends'>;

/** Tells the events of one record apart, and says nothing of what they are. */
export const toEventNumber = (key: string): number => Number.parseInt(key.slice(0, 8), 16);

/** Written before the migration has its record. */
export async function saveOrigins(
  staging: Staging,
  name: string,
  part: string,
  origins: readonly Origin[],
): Promise<void> {
  const of: PartOrigins['of'] = [];
  for (const { part: from, record, sends } of origins) {
    const events = sends?.map(toEventNumber);
    const last = of.at(-1);
    if (last?.part === from && (last.events === undefined) === (events === undefined)) {
      last.records.push(record);
      if (events) last.events?.push(events);
    } else of.push({ part: from, records: [record], ...(events ? { events: [events] } : {}) });
  }
  await staging.put(layout(name).originsOf(part), encodeDocument({ part, of } satisfies PartOrigins));
}

/** Of all parts of a replay, in key order; none of one that an earlier version began. Throws SourceError. */
export function listOrigins(staging: Staging, name: string): AsyncGenerator<PartOrigins> {
  const { origins, originsOf } = layout(name);
  return listDocuments(staging, origins, async (key) => {
    const found = await loadDocument(partOrigins, key, staging);
    if (!found || originsOf(found.part) === key) return found;
    throw new SourceError(`${staging.location}: ${key} is of part ${found.part}; ${recoveryHint(key)}`);
  });
}
