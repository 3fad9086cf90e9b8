import type { TextBuffer } from '../../lib/text-buffer.ts';
import { BUCKETS, getOrder, ORDER_BITS, ORDERS_OF_BUCKET } from '../bucket.ts';
import type { BucketLines } from './bucket-lines.ts';
import { parseEarlier } from './earlier-lines.ts';
import { Fields } from './fields.ts';

/**
 * One line of an object of identity facts, in the bucket of its id. `properties`: see renderProperties; those of a
 * group were set.
 */
export type StoredFact =
  | StoredId
  | EarlierFact
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
  | {
      readonly kind: 'group';
      readonly groupType: string;
      readonly groupKey: string;
      /** The latest; a group may be known without any property. */
      readonly time: string;
      readonly properties: string;
    }
  | StoredLink;

/** All that a part says of one id: most of what is known of a person is one line for each of its ids. */
export interface StoredId {
  readonly kind: 'id';
  readonly id: string;
  /** It is the user id of some record. Of parts mapped by version 1 of a mapping: of one with a pair. */
  readonly isUser: boolean;
  readonly active: StoredActivity | undefined;
  /** Users that a record shows beside it, each with the first time, by their ids. */
  readonly pairs: readonly (readonly [userId: string, time: string])[];
  readonly properties: string;
}

/** Months with events of an id, and those in which a record shows it beside a user; since the year 0. */
export interface StoredActivity {
  readonly isUser: boolean;
  readonly months: readonly number[];
  readonly besideUser: readonly number[];
}

/** Lines of earlier versions, which said each on its own. */
type EarlierFact =
  | { readonly kind: 'pair'; readonly anonId: string; readonly userId: string; readonly time: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'person'; readonly id: string; readonly properties: string }
  | ({ readonly kind: 'active'; readonly id: string } & StoredActivity);

/** What the vendor says of its own persons, and of users that were renamed; in buckets of its own. */
export type StoredLink =
  | { readonly kind: 'members'; readonly person: string; readonly members: readonly StoredMember[] }
  /** One of several that are not written together. */
  | ({ readonly kind: 'member'; readonly person: string } & StoredMember)
  | { readonly kind: 'join'; readonly person: string; readonly into: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly time: string };

/** An id of a vendor's person. */
export interface StoredMember {
  readonly id: string;
  readonly isUser: boolean;
  /** When the id was first seen. */
  readonly time: string;
  /** With events. */
  readonly months: readonly number[];
}

/** Buckets of the members of a vendor's persons, by these, behind those of ids. */
export const MEMBER_BUCKETS = { from: BUCKETS, to: 2 * BUCKETS };
/** The bucket of all that says that two are one: there is little of it, and it is read first. */
export const STATEMENT_BUCKETS = { from: 2 * BUCKETS, to: 2 * BUCKETS + 1 };

/** Under which the ledger has a vendor's person, as a group that no type and key make. */
export const toVendorId = (person: string): string => `vendor ${person}`;

/** Where a line is among all lines. */
export function getFactOrder(fact: StoredFact): number {
  const order = getOrder(getBucketId(fact));
  if (fact.kind === 'member' || fact.kind === 'members')
    return order + MEMBER_BUCKETS.from * ORDERS_OF_BUCKET;
  if (fact.kind === 'join' || fact.kind === 'rename')
    return (order % ORDERS_OF_BUCKET) + STATEMENT_BUCKETS.from * ORDERS_OF_BUCKET;
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
    case 'members':
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

/** Writes a line: the order of the id, a letter, and the fields, each behind a tab; ids are JSON strings. */
export function writeFact(fact: StoredFact, lines: BucketLines): void {
  const out = lines.begin(getFactOrder(fact));
  switch (fact.kind) {
    case 'id':
      writeIdFields(fact, out);
      out.write('\t');
      out.write(fact.properties);
      break;
    case 'pair':
      writeTexts(out, 'a', [fact.anonId, fact.userId], fact.time);
      break;
    case 'verdict':
      writeTexts(out, 'd', [fact.anonId, fact.userId], fact.time);
      break;
    case 'waiting_verdict':
      writeTexts(out, 'w', [fact.anonId, fact.userId], fact.time);
      break;
    case 'member':
      writeTexts(out, fact.isUser ? 'k' : 'i', [fact.person, fact.id], `${fact.time}\t${fact.months.join()}`);
      break;
    case 'members':
      writeTexts(out, 'v', [fact.person]);
      for (const member of fact.members) writeMember(member, out);
      break;
    case 'active':
      writeTexts(out, fact.isUser ? 'n' : 'm', [fact.id], `${fact.months.join()}\t${fact.besideUser.join()}`);
      break;
    case 'join':
      writeTexts(out, 'j', [fact.person, fact.into]);
      break;
    case 'rename':
      writeTexts(out, 'r', [fact.from, fact.to], fact.time);
      break;
    case 'placed':
      writeTexts(out, 'o', [fact.id], `${fact.person}\t${fact.user ?? ''}`);
      break;
    case 'named':
      writeTexts(out, 'e', [fact.id], fact.name);
      break;
    case 'user':
      writeTexts(out, 'u', [fact.id]);
      break;
    case 'person':
      writeTexts(out, 'p', [fact.id], fact.properties);
      break;
    case 'group':
      writeTexts(out, 'g', [fact.groupType, fact.groupKey], `${fact.time}\t${fact.properties}`);
  }
  lines.end();
}

function writeTexts(out: TextBuffer, letter: string, ids: readonly string[], rest?: string): void {
  out.write(letter);
  for (const id of ids) {
    out.write('\t');
    out.writeString(id);
  }
  if (rest === undefined) return;
  out.write('\t');
  out.write(rest);
}

/** What is in front of the properties: letter, id, marks, months, months beside a user, and pairs. */
export function writeIdFields(
  { id, isUser, active, pairs }: Omit<StoredId, 'kind' | 'properties'>,
  out: TextBuffer,
): void {
  const marks = (isUser ? IS_USER : 0) | (active ? IS_ACTIVE : 0) | (active?.isUser ? IS_ACTIVE_USER : 0);
  out.write('x\t');
  out.writeString(id);
  out.write('\t');
  out.write(DIGITS[marks] as string);
  out.write('\t');
  if (active) writeNumbers(active.months, out);
  out.write('\t');
  if (active) writeNumbers(active.besideUser, out);
  out.write('\t');
  out.write(String(pairs.length));
  for (const [userId, time] of pairs) {
    out.write('\t');
    out.writeString(userId);
    out.write('\t');
    out.write(time);
  }
}

const DIGITS = ['0', '1', '2', '3', '4', '5', '6', '7'];

export function writeNumbers(numbers: readonly number[], out: TextBuffer): void {
  if (numbers.length > 0) out.write(numbers.length === 1 ? String(numbers[0]) : numbers.join());
}

function writeMember({ id, isUser, time, months }: StoredMember, out: TextBuffer): void {
  out.write(isUser ? '\tk\t' : '\ti\t');
  out.writeString(id);
  out.write('\t');
  out.write(time);
  out.write('\t');
  writeNumbers(months, out);
}

const IS_USER = 1;
const IS_ACTIVE = 2;
const IS_ACTIVE_USER = 4;

function parseId(fields: Fields): StoredId {
  const id = fields.string();
  const marks = fields.count();
  const months = fields.numbers();
  const besideUser = fields.numbers();
  const count = fields.count();
  return {
    kind: 'id',
    id,
    isUser: (marks & IS_USER) !== 0,
    active:
      (marks & IS_ACTIVE) === 0 ? undefined : { isUser: (marks & IS_ACTIVE_USER) !== 0, months, besideUser },
    pairs: count === 0 ? NO_PAIRS : parsePairs(fields, count),
    properties: fields.properties(),
  };
}

function parsePairs(fields: Fields, count: number): StoredId['pairs'] {
  const pairs: (readonly [string, string])[] = [];
  while (pairs.length < count) pairs.push([fields.string(), fields.next()]);
  return pairs;
}

const NO_PAIRS: StoredId['pairs'] = [];

function parseMembers(fields: Fields): StoredMember[] {
  const members: StoredMember[] = [];
  do {
    const isUser = fields.next() === 'k';
    members.push({ isUser, id: fields.string(), time: fields.next(), months: fields.numbers() });
  } while (!fields.isAtEnd);
  return members;
}

/** Throws where the line is no stored fact. */
export function parseStoredFact(line: string): StoredFact {
  if (line.startsWith('{')) return parseEarlier(line);
  const fields = new Fields(line, ORDER_DIGITS + 2);
  switch (line[ORDER_DIGITS]) {
    case 'x':
      return parseId(fields);
    case 'v':
      return { kind: 'members', person: fields.string(), members: parseMembers(fields) };
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
