import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { layout } from '../keys.ts';

/** Keys of events (`toEventKey`) that the destination has accepted, by the number of their record in its part. */
export type SentBefore = ReadonlyMap<number, ReadonlySet<string>>;

const sentBefore = z.strictObject({
  part: z.string(),
  records: z.array(z.strictObject({ record: z.number().int().nonnegative(), keys: z.array(z.string()) })),
});

/** Written before the migration has its record; not at all where it would be empty. */
export async function saveSentBefore(
  staging: Staging,
  name: string,
  part: string,
  accepted: readonly (readonly string[] | undefined)[],
): Promise<void> {
  const records = accepted.flatMap((keys, record) => (keys ? [{ record, keys: [...keys] }] : []));
  if (records.length === 0) return;
  const document: z.infer<typeof sentBefore> = { part, records };
  await staging.put(layout(name).sentBeforeOf(part), encodeDocument(document));
}

export async function loadSentBefore(staging: Staging, name: string, part: string): Promise<SentBefore> {
  const found = await loadDocument(sentBefore, layout(name).sentBeforeOf(part), staging);
  return new Map((found?.records ?? []).map(({ record, keys }) => [record, new Set(keys)]));
}
