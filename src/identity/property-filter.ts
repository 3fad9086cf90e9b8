import { getName, NO_NAME, type PropertyName } from '../state/facts/property-names.ts';
import type { PropertyRows } from '../state/facts/property-rows.ts';
import { type FieldHash, HashWords, type KeyedHash, Subject } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import { assertNotLate } from './merges/merge-decision.ts';
import {
  COMES_LATER,
  decideBeside,
  decideProperty,
  FILLS,
  type GivenValue,
  IS_ONCE,
  isLaterValue,
  OF_GROUP,
  type PropertyContext,
  type PropertyVerdict,
  REPLACES,
  toTimeMs,
} from './property-decision.ts';
import {
  enterProperty,
  IS_HELD_BACK,
  IS_LATER,
  REPLACED,
  readEntryBefore,
  readPropertyEntry,
  StoredEntry,
  withdrawProperty,
  writeEntry,
} from './property-entry.ts';

/** Selects what is sent about a person or group, and enters it into the ledger. */
export interface PropertyFilter {
  /**
   * Marks what is sent of rows that are set, up to `setCount`, and of those behind them, that are set once. Of a property
   * that is both, `set` won at the source: where nothing is replaced it wins here, too.
   */
  selectPerson(of: Subject, rows: PropertyRows, setCount: number): void;
  /**
   * Properties up to this time, or the one with this key, may be known at the destination under an id that became this
   * person, or perhaps did.
   */
  raiseFloor(of: Subject, key: string | undefined, timeMs: number): void;
  readonly groupFields: GroupFields;
  /**
   * Marks what is sent. `isNew`: no other turn has sent the group itself. `unsure`: keys that are not sent, because newer
   * values may be live, and those of groups always replace.
   */
  selectGroup(of: Subject, rows: PropertyRows): { isNew: boolean; unsure: readonly string[] };
  /** Takes back that a property is sent. */
  withdraw(of: Subject, entry: PropertyField, key: string): void;
}

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
export const hashSetProperty = (hash: KeyedHash, of: Buffer, key: string): HashWords =>
  hashProperty(hash, of, SET, key);

const hashProperty = (hash: KeyedHash, of: Buffer, field: string, key: string): HashWords =>
  new HashWords().read(hash.property(of.toString('hex'), field, key), 0);

/** How many set properties were entered of a person while they replaced live ones; 0 also where none were counted. */
export const countEntered = (hash: KeyedHash, table: RecordTable, of: Buffer): number =>
  readPropertyEntry(table, hashProperty(hash, of, ENTERED, ''))?.timeMs ?? 0;

/** Whether set properties may have been entered of a person. Ledgers of earlier forms do not say that none were. */
export const mayHaveEntered = (hash: KeyedHash, table: RecordTable, of: Buffer): boolean =>
  hash.form < 4 || readPropertyEntry(table, hashProperty(hash, of, ENTERED, '')) !== undefined;

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

export interface PropertyFilterOptions {
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
}

export const createPropertyFilter = (options: PropertyFilterOptions): PropertyFilter =>
  new LedgerFilter(options);

/** A class, and entries that change: nothing is made for a property. */
class LedgerFilter implements PropertyFilter {
  readonly groupFields: GroupFields;
  readonly #options: PropertyFilterOptions;
  readonly #set: FieldHash;
  readonly #setOnce: FieldHash;
  readonly #groupSet: FieldHash;
  readonly #groupOthers: readonly FieldHash[];
  readonly #floor: FieldHash;
  readonly #hasFloors: FieldHash;
  readonly #floorOfOne: FieldHash;
  readonly #entered: FieldHash;
  /** Whose properties follow one another, and its table. */
  #subject = new Subject('');
  #table: RecordTable | undefined;
  readonly #words = new HashWords();
  readonly #known = new StoredEntry();
  readonly #next = new StoredEntry();
  /** What was found with the last verdict. */
  #isLater = false;
  #isFirst = false;

  constructor(options: PropertyFilterOptions) {
    const { hash, groupFields } = options;
    this.#options = options;
    this.groupFields = groupFields;
    this.#set = hash.field(SET);
    this.#setOnce = hash.field(SET_ONCE);
    this.#groupSet = hash.field(groupFields.set);
    this.#groupOthers = groupFields.others.map((other) => hash.field(other));
    this.#floor = hash.field(FLOOR);
    this.#hasFloors = hash.field(HAS_FLOORS);
    this.#floorOfOne = hash.field(FLOOR_OF_ONE);
    this.#entered = hash.field(ENTERED);
  }

  selectPerson(of: Subject, rows: PropertyRows, setCount: number): void {
    this.#open(of);
    const { overwrite } = this.#options;
    const { names, marks, count } = rows;
    const floorMs = overwrite ? this.#readMark(this.#floor, NO_NAME) : 0;
    const hasFloors = overwrite && this.#readMark(this.#hasFloors, NO_NAME) > 0;
    persons = (persons + 1) | 0;
    let firsts = 0;
    for (let row = 0; row < setCount; row += 1) {
      const name = names[row] as PropertyName;
      const timeMs = toTimeMs(rows.getTime(row));
      // The value that the floor of one property was raised for has its very time.
      const replaces =
        overwrite && timeMs > floorMs && !(hasFloors && timeMs < this.#readMark(this.#floorOfOne, name));
      const value = !overwrite ? FILLING : replaces ? REPLACING : HELD_BACK;
      const verdict = this.#select(this.#set, name, timeMs, value);
      if (this.#isFirst) firsts += 1;
      if (!overwrite) name.takenOf = persons;
      if (verdict === 'known') continue;
      if (replaces && verdict === 'send') marks[row] = this.#isLater ? REPLACES | COMES_LATER : REPLACES;
      else {
        marks[row] = FILLS;
        name.takenOf = persons;
      }
    }
    if (firsts > 0) this.#addEntered(overwrite ? firsts : 0);
    for (let row = setCount; row < count; row += 1) {
      const name = names[row] as PropertyName;
      if (name.takenOf === persons || (!overwrite && this.#isKnown(this.#set, name))) continue;
      if (this.#select(this.#setOnce, name, toTimeMs(rows.getTime(row)), SET_BEFORE) !== 'known')
        marks[row] = IS_ONCE;
    }
  }

  raiseFloor(of: Subject, key: string | undefined, timeMs: number): void {
    this.#open(of);
    if (key === undefined) this.#raiseMark(this.#floor, NO_NAME, timeMs);
    else {
      this.#raiseMark(this.#hasFloors, NO_NAME, 1);
      this.#raiseMark(this.#floorOfOne, getName(key), timeMs);
    }
  }

  selectGroup(of: Subject, rows: PropertyRows) {
    this.#open(of);
    const { hash, at } = this.#options;
    const mark = hash.field(this.groupFields.mark);
    const isNew = this.#select(mark, NO_NAME, Number.NEGATIVE_INFINITY, MARK) === 'send';
    const unsure: string[] = [];
    for (let row = 0; row < rows.count; row += 1) {
      const name = rows.names[row] as PropertyName;
      const verdict = at.isForgotten ? 'fill' : this.#selectOfGroup(name, toTimeMs(rows.getTime(row)));
      if (verdict === 'send') rows.marks[row] = this.#isLater ? OF_GROUP | COMES_LATER : OF_GROUP;
      else if (verdict === 'fill') unsure.push(name.key);
    }
    return { isNew, unsure };
  }

  withdraw(of: Subject, entry: PropertyField, key: string): void {
    this.#open(of);
    const { hash, at } = this.#options;
    if (this.#table) withdrawProperty(this.#table, hash.property(of.of, entry, key), at.turn);
  }

  #open(of: Subject): void {
    if (of === this.#subject) return;
    this.#subject = of;
    this.#table = this.#options.tables.get(of.bucket);
  }

  /** Enters the value where it is sent. `others`: of the same property in events of other names. */
  #select(
    field: FieldHash,
    name: PropertyName,
    timeMs: number,
    value: Value,
    others: readonly (StoredEntry | undefined)[] = NO_ENTRIES,
  ): PropertyVerdict {
    const table = this.#table;
    this.#isLater = false;
    this.#isFirst = false;
    if (!table) return 'send';
    const { at } = this.#options;
    const property = this.#words;
    field.put(property, this.#subject, name);
    const found = table.seek(property);
    const known = this.#known.read(table, found);
    if (known) assertNotLate(at, known.sentAt);
    const before = known && value.isOnce ? readEntryBefore(table, property) : undefined;
    const decided = decideProperty(known, timeMs, value, at, before);
    const verdict = others.length === 0 ? decided : decideBeside(decided, timeMs, others);
    if (verdict !== 'send') return verdict;
    this.#isLater = isLaterValue(known, timeMs);
    this.#isFirst = !known;
    const flags = this.#isLater ? value.flags | IS_LATER : value.flags;
    enterProperty(table, property, found, this.#next.set(timeMs, at.turn, flags), known);
    return verdict;
  }

  #selectOfGroup(name: PropertyName, timeMs: number): PropertyVerdict {
    const others = this.#groupOthers.map((other) => this.#read(other, name));
    for (const other of others) if (other) assertNotLate(this.#options.at, other.sentAt);
    return this.#select(this.#groupSet, name, timeMs, REPLACING, others);
  }

  #isKnown(field: FieldHash, name: PropertyName): boolean {
    const table = this.#table;
    if (!table) return false;
    const { at } = this.#options;
    field.put(this.#words, this.#subject, name);
    const entry = this.#known.read(table, table.seek(this.#words));
    return entry !== undefined && (entry.sentAt === at.turn || at.hasEnded(entry.sentAt));
  }

  #read(field: FieldHash, name: PropertyName): StoredEntry | undefined {
    if (!this.#table) return undefined;
    field.put(this.#words, this.#subject, name);
    return readPropertyEntry(this.#table, this.#words);
  }

  #readMark(field: FieldHash, name: PropertyName): number {
    const table = this.#table;
    if (!table) return Number.NEGATIVE_INFINITY;
    field.put(this.#words, this.#subject, name);
    return this.#known.read(table, table.seek(this.#words))?.timeMs ?? Number.NEGATIVE_INFINITY;
  }

  #raiseMark(field: FieldHash, name: PropertyName, timeMs: number): void {
    if (timeMs > this.#readMark(field, name)) this.#writeMark(field, name, timeMs);
  }

  #addEntered(more: number): void {
    const known = this.#readMark(this.#entered, NO_NAME);
    const isCounted = known !== Number.NEGATIVE_INFINITY;
    if (!isCounted || more > 0) this.#writeMark(this.#entered, NO_NAME, isCounted ? known + more : more);
  }

  #writeMark(field: FieldHash, name: PropertyName, timeMs: number): void {
    const table = this.#table;
    if (!table) return;
    field.put(this.#words, this.#subject, name);
    const found = table.seek(this.#words);
    const known = this.#known.read(table, found);
    writeEntry(table, this.#words, found, this.#next.set(timeMs, this.#options.at.turn, 0), known);
  }
}

interface Value extends GivenValue {
  /** Of its entry. */
  readonly flags: number;
}
const REPLACING: Value = { keep: 'latest', replaces: true, flags: REPLACED, isOnce: false };
const HELD_BACK: Value = { keep: 'latest', replaces: false, flags: IS_HELD_BACK, isOnce: false };
const FILLING: Value = { keep: 'latest', replaces: false, flags: 0, isOnce: true };
const SET_BEFORE: Value = { keep: 'earliest', replaces: false, flags: 0, isOnce: true };
/** Of the group itself. */
const MARK: Value = { keep: 'latest', replaces: false, flags: 0, isOnce: false };
const NO_ENTRIES: readonly (StoredEntry | undefined)[] = [];

/** As many as were selected, whatever the filter. */
let persons = 0;
