import { z } from 'zod';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { layout } from '../keys/migration.ts';

/** What a replay sends of a record of several events, by the keys of these (`toEventKey`). */
export interface SentOfRecord {
  /** The destination has accepted them. */
  readonly accepted: ReadonlySet<string>;
  /** Where given, no others are sent. */
  readonly sends?: ReadonlySet<string> | undefined;
}

/** By the number of the record in its part. */
export type SentBefore = ReadonlyMap<number, SentOfRecord>;

const sentBefore = z.strictObject({
  part: z.string(),
  records: z.array(
    z.strictObject({
      record: z.number().int().nonnegative(),
      keys: z.array(z.string()),
      sends: z.array(z.string()).exactOptional(),
    }),
  ),
});

/** Written before the migration has its record; not at all where it would be empty. */
export async function saveSentBefore(
  staging: Staging,
  name: string,
  part: string,
  rejects: readonly Pick<RejectLine, 'accepted' | 'sends'>[],
): Promise<void> {
  const records = rejects.flatMap(({ accepted, sends }, record) =>
    accepted || sends ? [{ record, keys: accepted ?? [], ...(sends ? { sends } : {}) }] : [],
  );
  if (records.length === 0) return;
  const document: z.infer<typeof sentBefore> = { part, records };
  await staging.put(layout(name).sentBeforeOf(part), encodeDocument(document));
}

export async function loadSentBefore(staging: Staging, name: string, part: string): Promise<SentBefore> {
  const found = await loadDocument(sentBefore, layout(name).sentBeforeOf(part), staging);
  return new Map(
    (found?.records ?? []).map(({ record, keys, sends }) => [
      record,
      { accepted: new Set(keys), sends: sends && new Set(sends) },
    ]),
  );
}
