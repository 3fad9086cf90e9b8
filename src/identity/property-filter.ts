import type { StoredProperty } from '../state/facts/snapshots.ts';
import { type KeyedHash, toBeforeHash } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import { assertNotLate } from './merges/merge-decision.ts';
import {
  decideBeside,
  decideProperty,
  type GivenValue,
  isLaterValue,
  type PropertyContext,
  type PropertyVerdict,
  toTimeMs,
} from './property-decision.ts';
import {
  enterProperty,
  type PropertyEntry,
  readPropertyEntry,
  withdrawProperty,
  writePropertyEntry,
} from './property-entry.ts';

/** Selects what is sent about a person or group, and enters it into the ledger. `of`: see ResolvedFact. */
export interface PropertyFilter {
  /**
   * Of a property both set and set once, `set` won at the source: where nothing is replaced it wins here, too.
   * `fill`: set properties that may only fill a gap, because a newer value of them may be live (raiseFloor, or a
   * turn that has not ended). `later`: see SelectedSet.
   */
  selectPerson(
    of: string,
    set: readonly StoredProperty[],
    setOnce: readonly StoredProperty[],
  ): SelectedSet & { fill: StoredProperty[]; setOnce: StoredProperty[] };
  /**
   * Properties up to this time, or the one with this key, may be known at the destination under an id that became this
   * person, or perhaps did.
   */
  raiseFloor(of: string, key: string | undefined, timeMs: number): void;
  readonly groupFields: GroupFields;
  /**
   * `isNew`: no other turn has sent the group itself. `unsure`: properties that are not sent, because newer ones
   * may be live, and those of groups always replace.
   */
  selectGroup(
    of: string,
    set: readonly StoredProperty[],
  ): SelectedSet & { isNew: boolean; unsure: StoredProperty[] };
  /** Takes back that a property is sent. */
  withdraw(of: string, entry: PropertyField, key: string): void;
}

/** `later`: keys of those of `set` of which a value of another time was known, so they may be a former value again. */
export interface SelectedSet {
  readonly set: StoredProperty[];
  readonly later: ReadonlySet<string>;
}

const NONE_LATER: ReadonlySet<string> = new Set();

/** Fields of the ledger's table; a group has its own subject, so `set` serves both. See toGroupFields. */
export type PropertyField = 'set' | 'set_once' | `set:${string}`;
const SET: PropertyField = 'set';
const SET_ONCE: PropertyField = 'set_once';
const GROUP = 'group';
/** Up to when anything may have been sent under an id that was merged into the person later. Its key is no property. */
const FLOOR = 'floor';
/** The same of one property. */
const FLOOR_OF_ONE = 'floor_of';
/** Marks that the person has such floors: most have none, and need not be asked for each property. */
const HAS_FLOORS = 'floors';

/**
 * How many set properties were entered under an id while they replaced live ones; 0 where all only filled gaps. Its key is
 * no property.
 */
const ENTERED = 'entered';

/** The record of a property that was set. `of`: the hash of the person. */
export const hashSetProperty = (hash: KeyedHash, of: Buffer, key: string): Uint8Array =>
  hash.property(of.toString('hex'), SET, key);

/** How many set properties were entered of a person while they replaced live ones; 0 also where none were counted. */
export const countEntered = (hash: KeyedHash, table: RecordTable, of: Buffer): number =>
  readPropertyEntry(table, hash.property(of.toString('hex'), ENTERED, ''))?.timeMs ?? 0;

/** Whether set properties may have been entered of a person. Ledgers of earlier forms do not say that none were. */
export const mayHaveEntered = (hash: KeyedHash, table: RecordTable, of: Buffer): boolean =>
  hash.form < 4 || readPropertyEntry(table, hash.property(of.toString('hex'), ENTERED, '')) !== undefined;

/** Fields under which the ledger has properties of groups, and that a group was sent; the key of the latter is empty. */
export interface GroupFields {
  readonly set: PropertyField;
  readonly mark: string;
  /** What was sent in events of other names that destinations are known to act on. */
  readonly others: readonly PropertyField[];
}

/** The event that carries properties of groups where a manifest names no other. */
export const GROUP_EVENT = '$group_identify';
/** The one that PostHog's own service acts on. */
export const SERVICE_GROUP_EVENT = '$groupidentify';

/**
 * Those of what is sent in events of this name. Many a destination acts on one name, so what was sent in events of
 * another counts as not sent.
 */
export function toGroupFields({ form }: Pick<KeyedHash, 'form'>, event: string): GroupFields {
  if (form < 3) return { set: SET, mark: GROUP, others: [] };
  const set = toGroupField(event);
  const others = [GROUP_EVENT, SERVICE_GROUP_EVENT].map(toGroupField).filter((other) => other !== set);
  return { set, mark: event === GROUP_EVENT ? GROUP : `${GROUP}:${toGroupName(event)}`, others };
}

const toGroupField = (event: string): PropertyField =>
  event === GROUP_EVENT ? SET : `set:${toGroupName(event)}`;

const toGroupName = (event: string) => `${event.length}:${event}`;

export function createPropertyFilter(options: {
  readonly hash: KeyedHash;
  /** By bucket; those of every subject that is selected. */
  readonly tables: ReadonlyMap<number, RecordTable>;
  readonly at: PropertyContext & {
    /** Nobody knows what was sent before. */
    readonly isForgotten: boolean;
  };
  /** Whether set properties replace live ones, or only fill gaps. Those of groups always replace. */
  readonly overwrite: boolean;
  readonly groupFields: GroupFields;
}): PropertyFilter {
  const { hash, tables, at, overwrite, groupFields } = options;

  let lastOf = '';
  let lastTable: RecordTable | undefined;
  /** That of a subject; the properties of one follow one another. */
  const findTable = (of: string): RecordTable | undefined => {
    if (of === lastOf) return lastTable;
    lastOf = of;
    lastTable = tables.get(Number.parseInt(of.slice(0, 2), 16));
    return lastTable;
  };

  /** Enters the value where it is sent. */
  const select = (
    of: string,
    field: string,
    { key, time }: Pick<StoredProperty, 'key' | 'time'>,
    value: Value,
    on?: Selecting,
  ): PropertyVerdict => {
    const table = findTable(of);
    if (!table) return 'send';
    // Before the hash of its own, which the next one would replace.
    const others =
      on && on.others.length > 0
        ? on.others.map((other) => readPropertyEntry(table, hash.property(of, other, key)))
        : NO_ENTRIES;
    for (const other of others) if (other) assertNotLate(at, other.sentAt);
    const property = hash.property(of, field, key);
    const timeMs = toTimeMs(time);
    const known = readPropertyEntry(table, property);
    if (known) assertNotLate(at, known.sentAt);
    const { replaces: replaced, isOnce, isHeldBack } = value;
    const before = known && isOnce ? readPropertyEntry(table, toBeforeHash(property)) : undefined;
    const decided = decideProperty(known, timeMs, value, at, before);
    const verdict = others.length === 0 ? decided : decideBeside(decided, timeMs, others);
    if (verdict !== 'send') return verdict;
    const isLater = isLaterValue(known, timeMs);
    if (isLater) on?.addLater(key);
    if (!known && on) on.firsts += 1;
    enterProperty(table, property, { timeMs, sentAt: at.turn, replaced, isLater, isHeldBack }, known);
    return verdict;
  };
  const isKnown = (of: string, field: string, key: string): boolean => {
    const table = findTable(of);
    const entry = table && readPropertyEntry(table, hash.property(of, field, key));
    return entry !== undefined && (entry.sentAt === at.turn || at.hasEnded(entry.sentAt));
  };

  const addEntered = (of: string, more: number): void => {
    const table = findTable(of);
    if (!table) return;
    const entered = hash.property(of, ENTERED, '');
    const known = readPropertyEntry(table, entered);
    if (!known || more > 0) writePropertyEntry(table, entered, toMark((known?.timeMs ?? 0) + more), known);
  };

  const toMark = (timeMs: number): PropertyEntry => ({
    timeMs,
    sentAt: at.turn,
    replaced: false,
    isLater: false,
    isHeldBack: false,
  });
  const readMark = (of: string, field: string, key: string): number => {
    const table = findTable(of);
    const entry = table && readPropertyEntry(table, hash.property(of, field, key));
    return entry?.timeMs ?? Number.NEGATIVE_INFINITY;
  };
  const raiseMark = (of: string, field: string, key: string, timeMs: number): void => {
    const table = findTable(of);
    if (!table || timeMs <= readMark(of, field, key)) return;
    const mark = hash.property(of, field, key);
    writePropertyEntry(table, mark, toMark(timeMs), readPropertyEntry(table, mark));
  };

  return {
    groupFields,
    selectPerson(of, set, setOnce) {
      const floorMs = readMark(of, FLOOR, '');
      const hasFloors = readMark(of, HAS_FLOORS, '') > 0;
      const sentSet: StoredProperty[] = [];
      const fill: StoredProperty[] = [];
      const on = new Selecting();
      for (const one of set) {
        const timeMs = toTimeMs(one.time);
        // The value that the floor of one property was raised for has its very time.
        const replaces =
          overwrite && timeMs > floorMs && !(hasFloors && timeMs < readMark(of, FLOOR_OF_ONE, one.key));
        const value = !overwrite ? FILLING : replaces ? REPLACING : HELD_BACK;
        const verdict = select(of, SET, one, value, on);
        if (verdict === 'known') continue;
        if (!overwrite || (replaces && verdict === 'send')) sentSet.push(one);
        else fill.push(one);
      }
      if (on.firsts > 0) addEntered(of, overwrite ? on.firsts : 0);
      const wasSet = listKeys(set);
      const filled = listKeys(fill);
      const candidates = overwrite
        ? setOnce.filter(({ key }) => !filled.has(key))
        : setOnce.filter(({ key }) => !wasSet.has(key) && !isKnown(of, SET, key));
      const sentOnce = candidates.filter((one) => select(of, SET_ONCE, one, SET_BEFORE) !== 'known');
      return { set: sentSet, later: on.later, fill, setOnce: sentOnce };
    },
    raiseFloor(of, key, timeMs) {
      if (key === undefined) return raiseMark(of, FLOOR, '', timeMs);
      raiseMark(of, HAS_FLOORS, '', 1);
      raiseMark(of, FLOOR_OF_ONE, key, timeMs);
    },
    selectGroup(of, set) {
      const isNew = select(of, groupFields.mark, THE_GROUP, MARK) === 'send';
      if (at.isForgotten) return { set: [], later: NONE_LATER, isNew, unsure: [...set] };
      const sent: StoredProperty[] = [];
      const unsure: StoredProperty[] = [];
      const on = new Selecting(groupFields.others);
      for (const one of set) {
        const verdict = select(of, groupFields.set, one, REPLACING, on);
        if (verdict === 'send') sent.push(one);
        else if (verdict === 'fill') unsure.push(one);
      }
      return { set: sent, later: on.later, isNew, unsure };
    },
    withdraw(of, entry, key) {
      const table = findTable(of);
      if (table) withdrawProperty(table, hash.property(of, entry, key), at.turn);
    },
  };
}

interface Value extends GivenValue {
  readonly isHeldBack: boolean;
}
const REPLACING: Value = { keep: 'latest', replaces: true, isHeldBack: false, isOnce: false };
const HELD_BACK: Value = { keep: 'latest', replaces: false, isHeldBack: true, isOnce: false };
const FILLING: Value = { keep: 'latest', replaces: false, isHeldBack: false, isOnce: true };
const SET_BEFORE: Value = { keep: 'earliest', replaces: false, isHeldBack: false, isOnce: true };
/** Of the group itself. */
const MARK: Value = { keep: 'latest', replaces: false, isHeldBack: false, isOnce: false };
const THE_GROUP = { key: '', time: '' };
const NO_ENTRIES: readonly PropertyEntry[] = [];

/** Most subjects have those of the one before: one set serves all of them. */
function listKeys(properties: readonly StoredProperty[]): ReadonlySet<string> {
  if (properties.length === 0) return NO_KEYS;
  if (properties.length !== lastKeys.size || !properties.every(({ key }) => lastKeys.has(key)))
    lastKeys = new Set(properties.map(({ key }) => key));
  return lastKeys;
}
const NO_KEYS: ReadonlySet<string> = new Set();
let lastKeys = NO_KEYS;

/** What is found while the properties of one subject are selected. */
class Selecting {
  /** Fields of the same properties in events of other names. */
  readonly others: readonly PropertyField[];
  /** Properties of which nothing was known. */
  firsts = 0;
  #later: Set<string> | undefined;

  constructor(others: readonly PropertyField[] = NO_FIELDS) {
    this.others = others;
  }

  /** Most subjects have none. */
  get later(): ReadonlySet<string> {
    return this.#later ?? NONE_LATER;
  }

  addLater(key: string): void {
    this.#later ??= new Set();
    this.#later.add(key);
  }
}

const NO_FIELDS: readonly PropertyField[] = [];
