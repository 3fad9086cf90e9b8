import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { gzip } from '../lib/gzip.ts';
import { type Lines, readLines, storedProperty } from './facts.ts';

/**
 * A fact under its final id. `of` is the keyed hash of the person or group, in hexadecimal: everything about one
 * person has one `of`, and is in the bucket that its first byte names. `isAlias`: the id was merged into a person
 * whose own id is known to the ledger alone; at the destination both mean the same person.
 */
const resolvedFact = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('person'),
    of: z.string(),
    id: z.string(),
    isAlias: z.boolean(),
    set: z.array(storedProperty),
    setOnce: z.array(storedProperty),
  }),
  /**
   * An id that was merged into the person now, after set properties of it were sent under the id itself: those up
   * to this time, ms since 1970, may be known at the destination without the ledger telling which.
   */
  z.strictObject({ kind: z.literal('floor'), of: z.string(), timeMs: z.number() }),
  z.strictObject({
    kind: z.literal('group'),
    of: z.string(),
    groupType: z.string(),
    groupKey: z.string(),
    /** The latest. */
    time: z.string(),
    set: z.array(storedProperty),
  }),
]);
export type ResolvedFact = z.infer<typeof resolvedFact>;

/** Throws where the line is no resolved fact. */
export const parseResolvedFact = (line: string): ResolvedFact => resolvedFact.parse(JSON.parse(line));

/** A pair that was accepted: the user, the anonymous id, and the first time both were seen together. */
const merge = z.tuple([z.string(), z.string(), z.string()]);
export type Merge = z.infer<typeof merge>;

/** An object of merges; each is decided once, so they need no folding and no order but the one they are in. */
export const mergesIndex = z.strictObject({
  key: z.string(),
  bytes: z.number().int().nonnegative(),
  count: z.number().int().nonnegative(),
});
export type MergesIndex = z.infer<typeof mergesIndex>;

export async function saveMerges(
  staging: Staging,
  key: string,
  lines: readonly string[],
): Promise<MergesIndex> {
  const body = await gzip(Buffer.from(`${lines.join('\n')}\n`), { level: 4 });
  await staging.put(key, body);
  return { key, bytes: body.length, count: lines.length };
}

export async function* readMerges(staging: Staging, { key, bytes }: MergesIndex): AsyncGenerator<Merge> {
  const lines: Lines = await readLines(staging, { key, offset: 0, length: bytes });
  yield* lines.parse((line) => merge.parse(JSON.parse(line)));
}
