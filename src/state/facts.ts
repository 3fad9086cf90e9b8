import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import type { FactsIndex, FactsSection } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { getBucket } from './bucket.ts';
import { recoveryHint } from './recovery-hint.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Key, source time of the kept value, the value's canonical JSON text. */
const storedProperty = z.tuple([z.string(), z.string(), z.string()]);
export type StoredProperty = z.infer<typeof storedProperty>;

/**
 * One line of an object of identity facts. A pair is stored in the bucket of its anonymous id and adds a
 * `user` mark in the bucket of its user id, so that each bucket knows which of its ids are also used as a
 * user id. A `merge` is an accepted pair; it is stored in the bucket of its user id.
 */
const storedFact = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pair'), anonId: z.string(), userId: z.string(), time: z.string() }),
  z.strictObject({ kind: z.literal('user'), id: z.string() }),
  z.strictObject({ kind: z.literal('merge'), userId: z.string(), anonId: z.string(), time: z.string() }),
  z.strictObject({
    kind: z.literal('person'),
    id: z.string(),
    set: z.array(storedProperty),
    setOnce: z.array(storedProperty),
  }),
  z.strictObject({
    kind: z.literal('group'),
    groupType: z.string(),
    groupKey: z.string(),
    /** The latest; a group may be known without any property. */
    time: z.string(),
    set: z.array(storedProperty),
  }),
]);
export type StoredFact = z.infer<typeof storedFact>;

/** The id that decides the bucket: everything known under one id is in one bucket. */
export function getBucketId(fact: StoredFact): string {
  switch (fact.kind) {
    case 'pair':
      return fact.anonId;
    case 'merge':
      return fact.userId;
    case 'group':
      return toGroupId(fact.groupType, fact.groupKey);
    default:
      return fact.id;
  }
}

/** One text for a group, whatever its type and key contain. */
export const toGroupId = (groupType: string, groupKey: string): string =>
  `${groupType.length}:${groupType}${groupKey}`;

/**
 * For each bucket that has any facts, in ascending order, one gzip member of sorted JSON lines.
 * Neighbouring buckets can be read at once, because members follow one another.
 */
export async function encodeFacts(
  facts: Iterable<StoredFact>,
): Promise<{ body: Buffer; sections: FactsSection[] }> {
  const byBucket = new Map<number, string[]>();
  for (const fact of facts) {
    const bucket = getBucket(getBucketId(fact));
    const lines = byBucket.get(bucket);
    if (lines) lines.push(JSON.stringify(fact));
    else byBucket.set(bucket, [JSON.stringify(fact)]);
  }

  const members: Buffer[] = [];
  const sections: FactsSection[] = [];
  let offset = 0;
  for (const [bucket, lines] of [...byBucket].sort(([a], [b]) => a - b)) {
    const member = await zip(Buffer.from(`${lines.sort().join('\n')}\n`), { level: 4 });
    sections.push({ bucket, offset, length: member.length });
    members.push(member);
    offset += member.length;
  }
  return { body: Buffer.concat(members), sections };
}

export async function saveFacts(
  staging: Staging,
  key: string,
  facts: Iterable<StoredFact>,
): Promise<FactsIndex> {
  const { body, sections } = await encodeFacts(facts);
  await staging.put(key, body);
  return { key, sections };
}

/** The bytes of an object that hold one bucket, or several neighbouring ones. */
export interface FactsRange {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
}

export async function readFacts(staging: Staging, range: FactsRange): Promise<StoredFact[]> {
  const { key, offset, length } = range;
  const body = await staging.getRange(key, offset, length);
  try {
    const lines = (await unzip(body)).toString('utf8').split('\n');
    return lines.filter(Boolean).map((line) => storedFact.parse(JSON.parse(line)));
  } catch (error) {
    throw new SourceError(
      `${staging.location}: ${key} (bytes ${offset} to ${offset + length}) is not what Backhaul wrote there; ${recoveryHint(key)}`,
      error,
    );
  }
}
