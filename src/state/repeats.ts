import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Receipt, rejectSegment } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { encodeDocument, loadIfWhole } from './document.ts';
import { countFingerprints } from './fingerprints.ts';
import { layout } from './keys/migration.ts';

const count = z.number().int().nonnegative();

/** Records that their receipts count as delivered and that are something else beside the other parts. */
const correction = z.strictObject({ duplicate: count, rejected: count });
export type Correction = z.infer<typeof correction>;

/** An event of a record of several that collides, or stays where others do. */
const several = z.strictObject({
  source: count,
  record: count,
  /** Of another sender, what came to whose parts since may have moved its number: the part of the record. */
  part: z.string().exactOptional(),
  stays: z.literal(true).optional(),
  /** It collides with what another migration of the family has sent. */
  elsewhere: z.literal(true).exactOptional(),
  key: z.string(),
});

/** What folding the fingerprints of all parts, or of a range of them, has found. */
export const repeats = z.strictObject({
  /** Fingerprints that were compared. */
  rows: count,
  total: correction,
  byFile: z.record(z.string(), correction),
  byDay: z.record(z.string(), correction),
  byEvent: z.record(z.string(), correction),
  /** Accepted events that repeat or collide with others. Absent in what earlier versions wrote: one a record. */
  events: count.optional(),
  /** Of `events`, those that collide only with what another migration of the family has sent. */
  elsewhere: count.exactOptional(),
  /**
   * Of a range: records of several events that collide, or stay where others do. They may do so in several ranges,
   * so they are counted once all are folded.
   */
  several: z.array(several).optional(),
  /** The rejected records, and the one of each id that stays, which may be of another migration of the family. */
  rejectSegments: z.array(rejectSegment),
});
export type Repeats = z.infer<typeof repeats>;

export const countRepeatedEvents = ({ events, total }: Repeats): number =>
  events ?? total.duplicate + total.rejected;

/** As earlier builds wrote it: it does not say what a replay sends of records that were refused in part. */
const earlierSeveral = several.extend({
  key: z.string().exactOptional(),
  content: z.string().exactOptional(),
  equal: z.literal(true).optional(),
});

/** As it is stored. `key`: of the document itself, so that another's is not believed under it. */
const storedRepeats = repeats.extend({
  key: z.string().optional(),
  several: z.array(earlierSeveral).optional(),
  partly: z.array(z.unknown()).optional(),
});

/** Undefined where an earlier build wrote it in a form that says too little. */
function toRepeats({ partly, several: found, ...rest }: Omit<z.infer<typeof storedRepeats>, 'key'>) {
  if (partly !== undefined) return undefined;
  const own = z.array(several).optional().safeParse(found);
  return own.success ? { ...rest, ...(own.data ? { several: own.data } : {}) } : undefined;
}

/**
 * Names what is folded, by the receipts that have fingerprints: those of a later top-up make another name, and
 * what was folded before is not mistaken for the whole. Receipts are added in key order.
 */
export function createGeneration() {
  const hash = createHash('sha256');
  let partsWithout = 0;
  let rows = 0;
  return {
    add({ part, tally, fingerprints }: Receipt): void {
      if (fingerprints) {
        hash.update(`${part} ${fingerprints.key}\n`);
        rows += countFingerprints(fingerprints);
      } else if (tally.counts.delivered > 0) partsWithout += 1;
    },
    /** Called once. */
    end: (): Generation => ({ name: hash.digest('hex').slice(0, 16), partsWithout, rows }),
  };
}

export interface Generation {
  readonly name: string;
  /** Parts with delivered records and no fingerprints: version 0.1.0 imported them. */
  readonly partsWithout: number;
  /** Fingerprints in all. */
  readonly rows: number;
}

/** Undefined until every range is folded. SourceError for a result that cannot be believed. */
export async function loadRepeats(
  staging: Staging,
  migration: string,
  generation: Generation,
): Promise<Repeats | undefined> {
  const keys = layout(migration);
  const key = keys.repeatsResult(generation.name);
  if (!(await staging.get(key))) return undefined;
  const found = await loadRepeatsIfWhole(staging, key, generation.rows);
  if (found) return found;
  throw new SourceError(
    `${staging.location}: ${key} is not what this version of Backhaul writes there; restore it, or resume "${migration}", which counts repeats again`,
  );
}

/**
 * The result, or that of a range of fingerprints. Undefined also where it cannot be believed: it is made again.
 * `rows`: how many fingerprints it must have compared.
 */
export async function loadRepeatsIfWhole(
  staging: Staging,
  key: string,
  rows?: number,
): Promise<Repeats | undefined> {
  const stored = await loadIfWhole(storedRepeats, key, staging);
  if (!stored) return undefined;
  const { key: own = key, ...found } = stored;
  return own === key && (rows ?? found.rows) === found.rows ? toRepeats(found) : undefined;
}

/** The same records give the same document, so it does not matter who writes it last (I5). */
export async function saveRepeats(staging: Staging, key: string, value: Repeats): Promise<void> {
  await staging.put(key, encodeDocument({ key, ...value }));
}
