import type { z } from 'zod';
import { addCounts, zeroCounts } from '../contract/counts.ts';
import { partMeta } from '../contract/part.ts';
import { type RecordCounts, receipt } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { isDocument, layout, partKeys } from '../state/keys.ts';
import { parseStored } from '../state/migrations.ts';
import { loadProgressNote } from '../state/progress-note.ts';

/** What staging says of how far a migration is: receipts, and the producer's note of parts under way. */
export interface Progress {
  readonly parts: { readonly done: number; readonly staged: number };
  readonly records: { readonly staged: number };
  readonly counts: RecordCounts;
}

/** How many small objects are asked for at once; on S3 each is a round trip. */
const READ_AHEAD = 16;

/**
 * Reads how far a migration is, again and again. Descriptions of parts and receipts never change, so each
 * is read once and added up; a look at a migration that stands still only lists its keys.
 */
export function createProgressReader(staging: Staging, name: string): () => Promise<Progress> {
  let staged = 0;
  let counts = zeroCounts();
  const parts = createReader(staging, partKeys(layout(name).prefix).parts, partMeta, ({ records }) => {
    staged += records;
  });
  const receipts = createReader(staging, layout(name).receipts, receipt, ({ tally }) => {
    counts = addCounts(counts, tally.counts);
  });
  return async () => {
    const done = await receipts(); // before the parts: a receipt never comes without its part
    const noted = await loadProgressNote(staging, name);
    return {
      parts: { done, staged: await parts() },
      records: { staged },
      // Workers may have gone on after the producer's last note.
      counts: noted !== undefined && noted.read > counts.read ? noted : counts,
    };
  };
}

/** Takes each JSON object below a prefix once; tells how many it has taken. */
function createReader<T>(staging: Staging, prefix: string, schema: z.ZodType<T>, take: (value: T) => void) {
  const taken = new Set<string>();
  const readNew = async (keys: readonly string[]) => {
    const bodies = await Promise.all(keys.map((key) => staging.get(key)));
    for (const [index, key] of keys.entries()) {
      const body = bodies[index];
      if (!body) continue;
      take(parseStored(schema, body, key, staging));
      taken.add(key);
    }
  };
  return async (): Promise<number> => {
    let fresh: string[] = [];
    for await (const { key } of staging.list(prefix)) {
      if (!isDocument(key) || taken.has(key)) continue;
      fresh.push(key);
      if (fresh.length < READ_AHEAD) continue;
      await readNew(fresh);
      fresh = [];
    }
    await readNew(fresh);
    return taken.size;
  };
}
