import { z } from 'zod';
import { quote } from '../../lib/json/quote.ts';
import { BUCKETS, getOrder, ORDER_BITS } from '../bucket.ts';
import { readString, renderProperties, toSnapshots } from './snapshots.ts';

/**
 * One line of an object of identity facts. A pair is stored in the bucket of its anonymous id. Every id of a
 * known user, in a pair or not, has a `user` mark in its own bucket, so that each bucket knows which of its ids
 * are also used as a user id. Parts mapped by version 1 of a mapping have marks of pairs only. `properties`: see
 * renderProperties; those of a group were set.
 */
export type StoredFact =
  | { readonly kind: 'pair'; readonly anonId: string; readonly userId: string; readonly time: string }
  /**
   * A pair that follows from what the vendor knows of its persons. `waiting_verdict`: of an id of migrations that are
   * still to send their persons, so it is theirs to send.
   */
  | {
      readonly kind: 'verdict' | 'waiting_verdict';
      readonly anonId: string;
      readonly userId: string;
      readonly time: string;
    }
  /**
   * The id is of a person of the vendor, by the hashes that the ledger has of that person and of its user. Without a
   * user: nobody knows any more who that is.
   */
  | {
      readonly kind: 'placed';
      readonly id: string;
      readonly person: string;
      readonly user: string | undefined;
    }
  /** The id is of a person of the vendor that has users with other ids by now; a hash of their earlier ids. */
  | { readonly kind: 'named'; readonly id: string; readonly name: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'person'; readonly id: string; readonly properties: string }
  | {
      readonly kind: 'group';
      readonly groupType: string;
      readonly groupKey: string;
      /** The latest; a group may be known without any property. */
      readonly time: string;
      readonly properties: string;
    }
  /** Months with events of the id, and those in which a record shows it beside a user; since the year 0. */
  | {
      readonly kind: 'active';
      readonly id: string;
      readonly isUser: boolean;
      readonly months: readonly number[];
      readonly besideUser: readonly number[];
    }
  | StoredLink;

/** What the vendor says of its own persons, and of users that were renamed; in buckets of its own. */
export type StoredLink =
  /** `time`: when the id was first seen. */
  | {
      readonly kind: 'member';
      readonly person: string;
      readonly id: string;
      readonly isUser: boolean;
      readonly time: string;
      /** With events. */
      readonly months: readonly number[];
    }
  | { readonly kind: 'join'; readonly person: string; readonly into: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly time: string };

/** Buckets of the members of a vendor's persons, by these, behind those of ids. */
export const MEMBER_BUCKETS = { from: BUCKETS, to: 2 * BUCKETS };
/** The bucket of all that says that two are one: there is little of it, and it is read first. */
export const STATEMENT_BUCKETS = { from: 2 * BUCKETS, to: 2 * BUCKETS + 1 };

/** Under which the ledger has a vendor's person, as a group that no type and key make. */
export const toVendorId = (person: string): string => `vendor ${person}`;

/** Where a line is among all lines. */
export function getFactOrder(fact: StoredFact): number {
  const order = getOrder(getBucketId(fact));
  if (fact.kind === 'member') return order + MEMBER_BUCKETS.from * 2 ** ORDER_BITS;
  if (fact.kind === 'join' || fact.kind === 'rename')
    return (order % 2 ** ORDER_BITS) + STATEMENT_BUCKETS.from * 2 ** ORDER_BITS;
  return order;
}

/** The id that decides the bucket: everything known under one id is in one bucket. */
function getBucketId(fact: StoredFact): string {
  switch (fact.kind) {
    case 'pair':
    case 'verdict':
    case 'waiting_verdict':
      return fact.anonId;
    case 'group':
      return toGroupId(fact.groupType, fact.groupKey);
    case 'member':
    case 'join':
      return toVendorId(fact.person);
    case 'rename':
      return fact.from;
    default:
      return fact.id;
  }
}

/** One text for a group, whatever its type and key contain. */
export const toGroupId = (groupType: string, groupKey: string): string =>
  `${groupType.length}:${groupType}${groupKey}`;

/** Hexadecimal digits of the order at the start of a line; the first two are the bucket. */
export const ORDER_DIGITS = (8 + ORDER_BITS) / 4;

/** The order of the id, a letter, and the fields, each behind a tab; ids are JSON strings. */
export function renderFact(fact: StoredFact): string {
  const order = getFactOrder(fact).toString(16).padStart(ORDER_DIGITS, '0');
  switch (fact.kind) {
    case 'pair':
      return `${order}a\t${quote(fact.anonId)}\t${quote(fact.userId)}\t${fact.time}`;
    case 'verdict':
      return `${order}d\t${quote(fact.anonId)}\t${quote(fact.userId)}\t${fact.time}`;
    case 'waiting_verdict':
      return `${order}w\t${quote(fact.anonId)}\t${quote(fact.userId)}\t${fact.time}`;
    case 'member':
      return `${order}${fact.isUser ? 'k' : 'i'}\t${quote(fact.person)}\t${quote(fact.id)}\t${fact.time}\t${fact.months.join()}`;
    case 'active':
      return `${order}${fact.isUser ? 'n' : 'm'}\t${quote(fact.id)}\t${fact.months.join()}\t${fact.besideUser.join()}`;
    case 'join':
      return `${order}j\t${quote(fact.person)}\t${quote(fact.into)}`;
    case 'rename':
      return `${order}r\t${quote(fact.from)}\t${quote(fact.to)}\t${fact.time}`;
    case 'placed':
      return `${order}o\t${quote(fact.id)}\t${fact.person}\t${fact.user ?? ''}`;
    case 'named':
      return `${order}e\t${quote(fact.id)}\t${fact.name}`;
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
    case 'd':
      return { kind: 'verdict', anonId: fields.string(), userId: fields.string(), time: fields.rest() };
    case 'w':
      return {
        kind: 'waiting_verdict',
        anonId: fields.string(),
        userId: fields.string(),
        time: fields.rest(),
      };
    case 'k':
    case 'i':
      return {
        kind: 'member',
        isUser: line[ORDER_DIGITS] === 'k',
        person: fields.string(),
        id: fields.string(),
        time: fields.next(),
        months: fields.numbers(),
      };
    case 'n':
    case 'm':
      return {
        kind: 'active',
        isUser: line[ORDER_DIGITS] === 'n',
        id: fields.string(),
        months: fields.numbers(),
        besideUser: fields.numbers(),
      };
    case 'j':
      return { kind: 'join', person: fields.string(), into: fields.string() };
    case 'r':
      return { kind: 'rename', from: fields.string(), to: fields.string(), time: fields.rest() };
    case 'o':
      return {
        kind: 'placed',
        id: fields.string(),
        person: fields.next(),
        user: fields.next() || undefined,
      };
    case 'e':
      return { kind: 'named', id: fields.string(), name: fields.rest() };
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

const NO_NUMBERS: readonly number[] = [];
let lastNumbersText = '';
let lastNumbers = NO_NUMBERS;

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

  /** A list of whole numbers, separated by commas. Most lines have that of the line before: it is one list. */
  numbers(): readonly number[] {
    const text = this.next();
    if (text === '') return NO_NUMBERS;
    if (text === lastNumbersText) return lastNumbers;
    if (!/^\d+(?:,\d+)*$/.test(text)) throw new Error('no numbers');
    lastNumbers = text.split(',').map(Number);
    lastNumbersText = text;
    return lastNumbers;
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
