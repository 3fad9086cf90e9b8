import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Receipt, rejectSegment } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys.ts';

const count = z.number().int().nonnegative();

/** Records that their receipts count as delivered and that are something else beside the other parts. */
const correction = z.strictObject({ duplicate: count, rejected: count });
export type Correction = z.infer<typeof correction>;

/** What folding the fingerprints of all parts, or of a range of them, has found. */
export const repeats = z.strictObject({
  /** Fingerprints that were compared. */
  rows: count,
  total: correction,
  byFile: z.record(z.string(), correction),
  byDay: z.record(z.string(), correction),
  byEvent: z.record(z.string(), correction),
  /** The rejected records, and the one of each id that stays. */
  rejectSegments: z.array(rejectSegment),
});
export type Repeats = z.infer<typeof repeats>;

/**
 * Names what is folded, by the receipts that have fingerprints: those of a later top-up make another name, and
 * what was folded before is not mistaken for the whole. Receipts are added in key order.
 */
export function createGeneration() {
  const hash = createHash('sha256');
  let partsWithout = 0;
  return {
    add({ part, tally, fingerprints }: Receipt): void {
      if (fingerprints) hash.update(`${part} ${fingerprints.key}\n`);
      else if (tally.counts.delivered > 0) partsWithout += 1;
    },
    /** Called once. */
    end: (): Generation => ({ name: hash.digest('hex').slice(0, 16), partsWithout }),
  };
}

export interface Generation {
  readonly name: string;
  /** Parts with delivered records and no fingerprints: version 0.1.0 imported them. */
  readonly partsWithout: number;
}

/** Undefined until every range is folded. */
export const loadRepeats = (
  staging: Staging,
  migration: string,
  generation: Generation,
): Promise<Repeats | undefined> =>
  loadDocument(repeats, layout(migration).repeatsResult(generation.name), staging);

/** The same records give the same document, so whoever writes it first is right (I5). */
export async function createRepeats(staging: Staging, key: string, value: Repeats): Promise<void> {
  await staging.create(key, encodeDocument(value));
}

export const loadRepeatsRange = (staging: Staging, key: string): Promise<Repeats | undefined> =>
  loadDocument(repeats, key, staging);
