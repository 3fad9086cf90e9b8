import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { gzip } from '../../lib/gzip.ts';
import { findStringEndInText } from '../../lib/json/value-end.ts';
import { giveBuffer } from '../../lib/spare-buffers.ts';
import { TextBuffer } from '../../lib/text-buffer.ts';
import { HASH_BYTES } from '../ledger/keyed-hash.ts';
import type { BucketLines } from './bucket-lines.ts';
import { earlierProperty, toProperties } from './earlier-lines.ts';
import { ORDER_DIGITS, writeNumbers } from './fact-line.ts';
import { readLines } from './fact-object.ts';
import { Fields } from './fields.ts';
import { readString } from './snapshots.ts';

/**
 * A fact under its final id. `of` is the keyed hash of the person or group, in hexadecimal: everything about one
 * person has one `of`, and is in the bucket that its first byte names. `isAlias`: the id was merged into a person
 * whose own id is known to the ledger alone; at the destination both mean the same person. `properties`: see
 * renderProperties; those of a group were set.
 */
export type ResolvedFact =
  | {
      readonly kind: 'person';
      readonly of: string;
      readonly id: string;
      readonly isAlias: boolean;
      readonly properties: string;
      /** Those of `active`, where they are known as well. */
      readonly months?: readonly number[] | undefined;
    }
  /**
   * Set properties of the person may be known at the destination that were sent under another id: up to this time, ms
   * since 1970. `key`: this one; without it any, as the ledger does not tell which.
   */
  | { readonly kind: 'floor'; readonly of: string; readonly key?: string; readonly timeMs: number }
  /** Months with events of the person: see the stored fact of this kind. */
  | { readonly kind: 'active'; readonly of: string; readonly months: readonly number[] }
  | {
      readonly kind: 'group';
      readonly of: string;
      readonly groupType: string;
      readonly groupKey: string;
      /** The latest. */
      readonly time: string;
      readonly properties: string;
    };

/** Writes a line: `of`, which begins with the order, a letter, and the fields, each behind a tab; ids are JSON strings. */
export function writeResolvedFact(fact: ResolvedFact, lines: BucketLines): void {
  const { of } = fact;
  const out = lines.begin(toOrder(of));
  out.write(of.slice(ORDER_DIGITS));
  switch (fact.kind) {
    case 'person':
      if (fact.months) {
        out.write(fact.isAlias ? 'n\t' : 'q\t');
        out.writeString(fact.id);
        out.write('\t');
        writeNumbers(fact.months, out);
      } else {
        out.write(fact.isAlias ? 'm\t' : 'p\t');
        out.writeString(fact.id);
      }
      out.write('\t');
      out.write(fact.properties);
      break;
    case 'floor':
      out.write(`f\t${fact.timeMs}`);
      if (fact.key !== undefined) {
        out.write('\t');
        out.writeString(fact.key);
      }
      break;
    case 'active':
      out.write(`a\t${fact.months.join()}`);
      break;
    case 'group':
      out.write('g\t');
      out.writeString(fact.groupType);
      out.write('\t');
      out.writeString(fact.groupKey);
      out.write(`\t${fact.time}\t`);
      out.write(fact.properties);
  }
  lines.end();
}

/** Of its first digits: see ORDER_DIGITS. */
export function toOrder(of: string): number {
  let order = 0;
  for (let at = 0; at < ORDER_DIGITS; at += 1) {
    const code = of.charCodeAt(at);
    order = order * 16 + (code <= 0x39 ? code - 0x30 : code - 0x57);
  }
  return order;
}

/** Hexadecimal digits of a keyed hash. */
export const OF_DIGITS = 2 * HASH_BYTES;

/** Throws where the line is no resolved fact. */
export function parseResolvedFact(line: string): ResolvedFact {
  if (line.startsWith('{')) return parseEarlier(line);
  const fields = new Fields(line, OF_DIGITS + 2);
  const of = line.slice(0, OF_DIGITS);
  const letter = line[OF_DIGITS];
  if (letter === 'p' || letter === 'm')
    return {
      kind: 'person',
      of,
      id: fields.string(),
      isAlias: letter === 'm',
      properties: fields.properties(),
    };
  if (letter === 'q' || letter === 'n')
    return {
      kind: 'person',
      of,
      id: fields.string(),
      isAlias: letter === 'n',
      months: fields.numbers(),
      properties: fields.properties(),
    };
  if (letter === 'f') {
    const timeMs = z.coerce.number().parse(fields.next());
    return { kind: 'floor', of, timeMs, ...(fields.isAtEnd ? {} : { key: fields.string() }) };
  }
  if (letter === 'a') return { kind: 'active', of, months: fields.numbers() };
  if (letter !== 'g') throw new Error('no kind of fact');
  return {
    kind: 'group',
    of,
    groupType: fields.string(),
    groupKey: fields.string(),
    time: fields.next(),
    properties: fields.properties(),
  };
}

/** Lines of turns that an earlier version began. */
const earlierFact = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('person'),
    of: z.string(),
    id: z.string(),
    isAlias: z.boolean(),
    set: z.array(earlierProperty),
    setOnce: z.array(earlierProperty),
  }),
  z.strictObject({ kind: z.literal('floor'), of: z.string(), timeMs: z.number() }),
  z.strictObject({
    kind: z.literal('group'),
    of: z.string(),
    groupType: z.string(),
    groupKey: z.string(),
    time: z.string(),
    set: z.array(earlierProperty),
  }),
]);

function parseEarlier(line: string): ResolvedFact {
  const fact = earlierFact.parse(JSON.parse(line));
  if (fact.kind === 'floor') return fact;
  if (fact.kind === 'group') {
    const { set, ...rest } = fact;
    return { ...rest, properties: toProperties(set, []) };
  }
  const { set, setOnce, ...rest } = fact;
  return { ...rest, properties: toProperties(set, setOnce) };
}

/** A pair that was accepted: the user, the anonymous id, and the first time both were seen together. */
export type Merge = readonly [userId: string, anonId: string, time: string];

/** Throws where the line is no merge. */
function parseMerge(line: string): Merge {
  const first = findStringEndInText(line, 1);
  const second = findStringEndInText(line, first + 1);
  const third = findStringEndInText(line, second + 1);
  const isMerge =
    line.startsWith('["') &&
    line.startsWith(',"', first) &&
    line.startsWith(',"', second) &&
    line.startsWith(']', third) &&
    line.length === third + 1;
  if (!isMerge) throw new Error('no merge');
  return [
    readString(line, 1, first),
    readString(line, first + 1, second),
    readString(line, second + 1, third),
  ];
}

/** An object of merges; each is decided once, so they need no folding and no order but the one they are in. */
export const mergesIndex = z.strictObject({
  key: z.string(),
  bytes: z.number().int().nonnegative(),
  count: z.number().int().nonnegative(),
});
export type MergesIndex = z.infer<typeof mergesIndex>;

/** The merges of one object, as bytes: see BucketLines. */
export class MergeLines {
  readonly #text = new TextBuffer(FIRST_BYTES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(userId: string, anonId: string, time: string): void {
    const text = this.#text;
    text.write('[');
    text.writeString(userId);
    text.write(',');
    text.writeString(anonId);
    text.write(',');
    text.writeString(time);
    text.write(']\n');
    this.#count += 1;
  }

  /** They are of no use afterwards. */
  async save(staging: Staging, key: string): Promise<MergesIndex> {
    const { bytes, end } = this.#text;
    const body = await gzip(bytes.subarray(0, end), { level: 1 });
    giveBuffer(bytes);
    await staging.put(key, body);
    return { key, bytes: body.length, count: this.#count };
  }
}
const FIRST_BYTES = 64 * 1024;

/** Those of an object, one by one as they are asked for. */
export async function readMerges(staging: Staging, { key, bytes }: MergesIndex): Promise<Iterable<Merge>> {
  const lines = await readLines(staging, { key, offset: 0, length: bytes });
  return lines.parse(parseMerge);
}
