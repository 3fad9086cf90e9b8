import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { layout } from '../keys/migration.ts';
import { listReceipts } from '../receipts.ts';
import { createGeneration, type Generation, loadRepeatsIfWhole } from '../repeats.ts';
import { readRejects } from './rejects.ts';

/** What folding the fingerprints of a migration came to, as far as others of its family need it. */
export interface FoldResult {
  /** Events that collide only with what others of its family have sent. */
  readonly elsewhere: number;
  /** Records that it rejected, by part; of those of several events with the keys of the events that collide. */
  readonly rejected: ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<string> | undefined>>;
}

const count = z.number().int().nonnegative();
const keptResult = z.strictObject({
  key: z.string(),
  elsewhere: count,
  rejected: z.record(
    z.string(),
    z.array(
      z.strictObject({
        record: count,
        keys: z.array(z.string()).exactOptional(),
      }),
    ),
  ),
});

/** That of a removed migration is kept without its rejects, which hold the records themselves. */
export async function loadFoldResult(
  staging: Staging,
  name: string,
  generation: Generation,
): Promise<FoldResult> {
  const kept = await loadDocument(keptResult, layout(name).foldResult, staging);
  if (!kept) return readFoldResult(staging, name, generation);
  const rejected = Object.entries(kept.rejected).map(
    ([part, records]) =>
      [part, new Map(records.map(({ record, keys }) => [record, keys && new Set(keys)]))] as const,
  );
  return { elsewhere: kept.elsewhere, rejected: new Map(rejected) };
}

/**
 * Writes what folding came to before its rejects are removed. May be called again: once it is written, they may be gone.
 * A segment that is damaged is left out, as it must not keep its migration from being removed: what it held counts as
 * delivered then, so that more is rejected later, and nothing is lost.
 */
export async function keepFoldResult(staging: Staging, name: string): Promise<void> {
  const key = layout(name).foldResult;
  if (await staging.get(key)) return;
  const generations = createGeneration();
  for await (const receipt of listReceipts(staging, name)) generations.add(receipt);
  const { elsewhere, rejected } = await readFoldResult(staging, name, generations.end(), true);
  const document: z.infer<typeof keptResult> = {
    ...{ key, elsewhere },
    rejected: Object.fromEntries(
      [...rejected].map(([part, records]) => [
        part,
        [...records].map(([record, keys]) => ({
          record,
          ...(keys ? { keys: [...keys] } : {}),
        })),
      ]),
    ),
  };
  await staging.put(key, encodeDocument(document));
}

async function readFoldResult(
  staging: Staging,
  name: string,
  generation: Generation,
  leaveOutDamaged = false,
): Promise<FoldResult> {
  const repeats = await loadRepeatsIfWhole(
    staging,
    layout(name).repeatsResult(generation.name),
    generation.rows,
  );
  const rejected = new Map<string, Map<number, ReadonlySet<string> | undefined>>();
  for (const segment of repeats?.rejectSegments ?? []) {
    const lines = await readRejects(staging, segment).catch((error: unknown) => {
      if (leaveOutDamaged && error instanceof SourceError) return [];
      throw error;
    });
    for (const { part, record, stays, sends, staying = [] } of lines) {
      if (stays && !sends) continue;
      const records = rejected.get(part) ?? new Map<number, ReadonlySet<string> | undefined>();
      rejected.set(part, records);
      const stay = new Set(staying);
      records.set(record, sends && new Set(sends.filter((key) => !stay.has(key))));
    }
  }
  return { elsewhere: repeats?.elsewhere ?? 0, rejected };
}
