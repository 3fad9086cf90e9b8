import { z } from 'zod';
import type { FactsIndex, FactsSection } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { gunzip, gzip } from '../lib/gzip.ts';
import { getBucket } from './bucket.ts';
import { recoveryHint } from './recovery-hint.ts';

/** Key, source time of the kept value, the value's canonical JSON text. */
export const storedProperty = z.tuple([z.string(), z.string(), z.string()]);
export type StoredProperty = z.infer<typeof storedProperty>;

/**
 * One line of an object of identity facts. A pair is stored in the bucket of its anonymous id. Every id of a
 * known user, in a pair or not, has a `user` mark in its own bucket, so that each bucket knows which of its ids
 * are also used as a user id. Parts mapped by version 1 of a mapping have marks of pairs only.
 */
const storedFact = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pair'), anonId: z.string(), userId: z.string(), time: z.string() }),
  z.strictObject({ kind: z.literal('user'), id: z.string() }),
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

/** Throws where the line is no stored fact. */
export const parseStoredFact = (line: string): StoredFact => storedFact.parse(JSON.parse(line));

/** The id that decides the bucket: everything known under one id is in one bucket. */
export function getBucketId(fact: StoredFact): string {
  switch (fact.kind) {
    case 'pair':
      return fact.anonId;
    case 'group':
      return toGroupId(fact.groupType, fact.groupKey);
    default:
      return fact.id;
  }
}

/** One text for a group, whatever its type and key contain. */
export const toGroupId = (groupType: string, groupKey: string): string =>
  `${groupType.length}:${groupType}${groupKey}`;

/** The facts of one bucket, as lines of JSON. */
export type BucketLines = Map<number, string[]>;

export function addLine(lines: BucketLines, bucket: number, line: string): void {
  const known = lines.get(bucket);
  if (known) known.push(line);
  else lines.set(bucket, [line]);
}

/**
 * For each bucket that has any facts, in ascending order, one gzip member of sorted JSON lines.
 * Neighbouring buckets can be read at once, because members follow one another.
 */
export async function encodeFacts(
  facts: Iterable<StoredFact>,
): Promise<{ body: Buffer; sections: FactsSection[] }> {
  const byBucket: BucketLines = new Map();
  for (const fact of facts) addLine(byBucket, getBucket(getBucketId(fact)), JSON.stringify(fact));
  for (const lines of byBucket.values()) lines.sort();
  return encodeLines(byBucket);
}

async function encodeLines(byBucket: BucketLines): Promise<{ body: Buffer; sections: FactsSection[] }> {
  const members: Buffer[] = [];
  const sections: FactsSection[] = [];
  let offset = 0;
  for (const [bucket, lines] of [...byBucket].sort(([a], [b]) => a - b)) {
    const member = await gzip(Buffer.from(`${lines.join('\n')}\n`), { level: 4 });
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

export async function saveLines(staging: Staging, key: string, lines: BucketLines): Promise<FactsIndex> {
  const { body, sections } = await encodeLines(lines);
  await staging.put(key, body);
  return { key, sections };
}

/** The bytes of an object that hold one bucket, or several neighbouring ones. */
export interface FactsRange {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
}

/** The lines of some buckets; `parse` throws for a line that Backhaul did not write. */
export async function readLines(staging: Staging, range: FactsRange): Promise<Lines> {
  const { key, offset, length } = range;
  const where = `${key} (bytes ${offset} to ${offset + length})`;
  const body = await staging.getRange(key, offset, length);
  try {
    return new Lines(await gunzip(body), where, staging.location);
  } catch (error) {
    throw toDamage(where, key, staging.location, error);
  }
}

/** Lines that are made text one by one: all of them at once would block the event loop. */
export class Lines {
  readonly #body: Buffer;
  readonly #where: string;
  readonly #location: string;

  constructor(body: Buffer, where: string, location: string) {
    this.#body = body;
    this.#where = where;
    this.#location = location;
  }

  *parse<T>(parseLine: (line: string) => T): Generator<T> {
    for (let start = 0; start < this.#body.length; ) {
      const end = this.#body.indexOf(LF, start);
      const stop = end === -1 ? this.#body.length : end;
      if (stop > start) yield this.#parseOne(parseLine, this.#body.toString('utf8', start, stop));
      start = stop + 1;
    }
  }

  #parseOne<T>(parseLine: (line: string) => T, line: string): T {
    try {
      return parseLine(line);
    } catch (error) {
      throw toDamage(this.#where, this.#where, this.#location, error);
    }
  }
}

const LF = 0x0a;

const toDamage = (where: string, key: string, location: string, cause: unknown) =>
  new SourceError(`${location}: ${where} is not what Backhaul wrote there; ${recoveryHint(key)}`, cause);
