import { z } from 'zod';
import { quote } from '../../lib/json/quote.ts';
import { getOrder, ORDER_BITS } from '../bucket.ts';
import { readString, renderProperties, toSnapshots } from './snapshots.ts';

/**
 * One line of an object of identity facts. A pair is stored in the bucket of its anonymous id. Every id of a
 * known user, in a pair or not, has a `user` mark in its own bucket, so that each bucket knows which of its ids
 * are also used as a user id. Parts mapped by version 1 of a mapping have marks of pairs only. `properties`: see
 * renderProperties; those of a group were set.
 */
export type StoredFact =
  | { readonly kind: 'pair'; readonly anonId: string; readonly userId: string; readonly time: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'person'; readonly id: string; readonly properties: string }
  | {
      readonly kind: 'group';
      readonly groupType: string;
      readonly groupKey: string;
      /** The latest; a group may be known without any property. */
      readonly time: string;
      readonly properties: string;
    };

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

/** Hexadecimal digits of the order at the start of a line; the first two are the bucket. */
export const ORDER_DIGITS = (8 + ORDER_BITS) / 4;

/** The bucket of a line, from its digits. */
export const readBucket = (line: string): number => Number.parseInt(line.slice(0, 2), 16);

/** The order of the id, a letter, and the fields, each behind a tab; ids are JSON strings. */
export function renderFact(fact: StoredFact): string {
  const order = getOrder(getBucketId(fact)).toString(16).padStart(ORDER_DIGITS, '0');
  switch (fact.kind) {
    case 'pair':
      return `${order}a\t${quote(fact.anonId)}\t${quote(fact.userId)}\t${fact.time}`;
    case 'user':
      return `${order}u\t${quote(fact.id)}`;
    case 'person':
      return `${order}p\t${quote(fact.id)}\t${fact.properties}`;
    case 'group':
      return `${order}g\t${quote(fact.groupType)}\t${quote(fact.groupKey)}\t${fact.time}\t${fact.properties}`;
  }
}

/** Throws where the line is no stored fact. */
export function parseStoredFact(line: string): StoredFact {
  if (line.startsWith('{')) return parseEarlier(line);
  const fields = new Fields(line, ORDER_DIGITS + 2);
  switch (line[ORDER_DIGITS]) {
    case 'a':
      return { kind: 'pair', anonId: fields.string(), userId: fields.string(), time: fields.rest() };
    case 'u':
      return { kind: 'user', id: fields.string() };
    case 'p':
      return { kind: 'person', id: fields.string(), properties: fields.properties() };
    case 'g':
      return {
        kind: 'group',
        groupType: fields.string(),
        groupKey: fields.string(),
        time: fields.next(),
        properties: fields.properties(),
      };
    default:
      throw new Error('no kind of fact');
  }
}

/** Reads a line from field to field; throws where there is none. */
export class Fields {
  readonly #line: string;
  #at: number;

  /** @param start Of the first field. */
  constructor(line: string, start: number) {
    this.#line = line;
    this.#at = start;
    if (line[start - 1] !== '\t') throw new Error('no line of fields');
  }

  get isAtEnd(): boolean {
    return this.#at > this.#line.length;
  }

  next(): string {
    const start = this.#at;
    const end = this.#line.indexOf('\t', start);
    const stop = end === -1 ? this.#line.length : end;
    if (start > stop) throw new Error('a field is missing');
    this.#at = stop + 1;
    return this.#line.slice(start, stop);
  }

  /** The value of a JSON string. */
  string(): string {
    const text = this.next();
    if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) throw new Error('no string');
    return readString(text, 0, text.length);
  }

  rest(): string {
    const text = this.#line.slice(this.#at);
    if (text === '') throw new Error('a field is missing');
    return text;
  }

  /** Looked at once they are folded; that they begin as such is checked here. */
  properties(): string {
    const text = this.rest();
    if (!/^\d+(?:\t|$)/.test(text)) throw new Error('no properties');
    return text;
  }
}

/** Lines of version 0.1.0, and of those before its successor: JSON, with every value as JSON text in it. */
export const earlierProperty = z.tuple([z.string(), z.string(), z.string()]);
const earlierProperties = z.array(earlierProperty);

const earlierFact = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pair'), anonId: z.string(), userId: z.string(), time: z.string() }),
  z.strictObject({ kind: z.literal('user'), id: z.string() }),
  z.strictObject({
    kind: z.literal('person'),
    id: z.string(),
    set: earlierProperties,
    setOnce: earlierProperties,
  }),
  z.strictObject({
    kind: z.literal('group'),
    groupType: z.string(),
    groupKey: z.string(),
    time: z.string(),
    set: earlierProperties,
  }),
]);

function parseEarlier(line: string): StoredFact {
  const fact = earlierFact.parse(JSON.parse(line));
  if (fact.kind === 'pair' || fact.kind === 'user') return fact;
  if (fact.kind === 'group') {
    const { set, ...rest } = fact;
    return { ...rest, properties: toProperties(set, []) };
  }
  const { set, setOnce, ...rest } = fact;
  return { ...rest, properties: toProperties(set, setOnce) };
}

type EarlierProperties = z.infer<typeof earlierProperties>;

export const toProperties = (set: EarlierProperties, setOnce: EarlierProperties): string =>
  renderProperties(toSnapshots(set), toSnapshots(setOnce));
