import { flatten } from '../lib/json/flatten.ts';
import { quote } from '../lib/json/quote.ts';
import type { TextBuffer } from '../lib/text-buffer.ts';

/**
 * What one record states about persons and groups, beside its event. Facts are folded by source time,
 * never by arrival (invariant I2). `time` is ISO 8601 UTC with milliseconds, so that text order is time
 * order.
 */
export type IdentityFact = PairFact | PersonFact | GroupFact | RenameFact | JoinFact;

/** `anonId` and `userId` were seen on the same record: the same person. */
export interface PairFact {
  readonly kind: 'pair';
  readonly anonId: string;
  readonly userId: string;
  readonly time: string;
}

/** The vendor was told that a user has another id from now on; `from` may be an anonymous id as well. */
export interface RenameFact {
  readonly kind: 'rename';
  readonly from: string;
  readonly to: string;
  readonly time: string;
}

/** The vendor found that two of its persons are one, in each project that has both. */
export interface JoinFact {
  readonly kind: 'join';
  readonly person: string;
  readonly into: string;
  readonly time: string;
}

/** Ids of a vendor's persons may be given out once a project, so an id of two projects may be two persons. */
export function toPersonOf(person: string, project: string): string {
  if (person === lastPerson && project === lastProject) return lastPersonOf;
  lastPerson = person;
  lastProject = project;
  lastPersonOf = flatten(`${person}${PROJECT_MARK}${project}`);
  return lastPersonOf;
}

/** The vendor's own id, and the rest, which names the project. */
export function cutPersonOf(person: string): readonly [id: string, rest: string] {
  const end = person.indexOf(PROJECT_MARK);
  return end === -1 ? [person, ''] : [person.slice(0, end), person.slice(end)];
}
/** In no id. */
const PROJECT_MARK = ' of project ';

/** Most records are of the person of the one before: what is known of its ids keeps one text, not one a record. */
let lastPerson = '';
let lastProject = '';
let lastPersonOf = PROJECT_MARK;

/** Who an event is of, and which person that is for the vendor. */
export interface Seen {
  /** The vendor's own id of the person, where it has one; never a distinct id. */
  readonly person: string | undefined;
  /** An anonymous id that the record shows beside the user; the vendor counts both as one user. */
  readonly beside?: string | undefined;
  /** The distinct id of the event. */
  readonly id: string;
  readonly isUser: boolean;
  readonly time: string;
}

export interface PersonFact {
  readonly kind: 'person';
  readonly distinctId: string;
  /**
   * May continue behind its `Z`: with what decides between facts of one millisecond, which has neither tabs nor quotes,
   * and with a scope (see toScope).
   */
  readonly time: string;
  /** The latest value by source time wins. */
  readonly set?: Values | DeferredValues | undefined;
  /** The earliest value by source time wins. */
  readonly setOnce?: Values | DeferredValues | undefined;
}

/**
 * A name among the values that are set, which says that they are all there are at their time: what an earlier fact
 * of the same scope set and this one lacks is gone. Never sent.
 */
export const WHOLE_MARK = '$backhaul_whole';

/** The moment of a fact, without what follows it. */
export const toMoment = (time: string): string => time.slice(0, MOMENT_LENGTH);
export const MOMENT_LENGTH = '2023-05-01T12:00:00.000Z'.length;

/**
 * The end of the time of a fact that says all there is: the project of the vendor that says so. What another project
 * or another vendor knows of the person is of another scope.
 */
export function toScope(project: string): string {
  if (project === lastScoped) return lastScope;
  lastScoped = project;
  // One quote, at its start.
  lastScope = flatten(quote(project).slice(0, -1).replaceAll('\\"', '\\u0022'));
  return lastScope;
}
let lastScoped = '';
let lastScope = '"';

/**
 * Whether what was said at either time is of one scope. Facts that never say all there is have none: nothing but their
 * moment is in their time.
 */
export function haveOneScope(a: string, b: string): boolean {
  if (a.length <= MOMENT_LENGTH || b.length <= MOMENT_LENGTH)
    return a.length <= MOMENT_LENGTH && b.length <= MOMENT_LENGTH;
  // Every record asks, and scopes are short: from their ends.
  for (let atA = a.length - 1, atB = b.length - 1; atA > 0 && atB > 0; atA -= 1, atB -= 1) {
    const code = a.charCodeAt(atA);
    if (code !== b.charCodeAt(atB)) break;
    if (code === QUOTE) return true;
  }
  return !a.includes('"') && !b.includes('"');
}
const QUOTE = 0x22;

type Values = Readonly<Record<string, unknown>>;

/**
 * Values that are parsed when somebody looks at them: most records of a person repeat what the next one says, and
 * their values are never looked at. Valid as long as the bytes of the record are.
 */
export abstract class DeferredValues {
  /** Of the values that are defined; one set for all records that have the same. */
  abstract get keys(): ReadonlySet<string>;
  abstract get values(): Values;
  /** Writes their canonical JSON text, without making the values. */
  abstract write(out: TextBuffer): void;
}

export const readValues = (values: Values | DeferredValues): Values =>
  values instanceof DeferredValues ? values.values : values;

export interface GroupFact {
  readonly kind: 'group';
  readonly groupType: string;
  readonly groupKey: string;
  readonly time: string;
  readonly set: Readonly<Record<string, unknown>>;
}
