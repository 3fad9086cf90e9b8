import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { encodeDocument, listDocuments, loadDocument } from '../document.ts';
import { layout } from '../keys.ts';
import { recoveryHint } from '../recovery-hint.ts';

const count = z.number().int().nonnegative();

/** Which records of another migration those of a part of a replay are: numbers alone, so they may outlive the records. */
const partOrigins = z.strictObject({
  part: z.string(),
  /** In order of the records of the part. */
  of: z.array(z.strictObject({ part: z.string(), records: z.array(count) })),
});
export type PartOrigins = z.infer<typeof partOrigins>;

/** A record by its part and its number there. */
export interface Origin {
  readonly part: string;
  readonly record: number;
}

/** Written before the migration has its record. */
export async function saveOrigins(
  staging: Staging,
  name: string,
  part: string,
  origins: readonly Origin[],
): Promise<void> {
  const of: { part: string; records: number[] }[] = [];
  for (const { part: from, record } of origins) {
    const last = of.at(-1);
    if (last?.part === from) last.records.push(record);
    else of.push({ part: from, records: [record] });
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
