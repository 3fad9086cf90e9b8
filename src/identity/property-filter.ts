import type { StoredProperty } from '../state/facts/snapshots.ts';
import type { KeyedHash } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import {
  decideProperty,
  enterProperty,
  isLaterValue,
  type PropertyContext,
  type PropertyVerdict,
  readPropertyEntry,
  toTimeMs,
  withdrawProperty,
  writePropertyEntry,
} from './property-decision.ts';

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
  /** Properties up to this time may be known at the destination under an id that became this person. */
  raiseFloor(of: string, timeMs: number): void;
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

/** Fields of the ledger's table; a group has its own subject, so `set` serves both. */
export type PropertyField = 'set' | 'set_once';
const SET: PropertyField = 'set';
const SET_ONCE: PropertyField = 'set_once';
/** Marks that a group was sent. Its key is no property. */
const GROUP = 'group';
/** Up to when anything may have been sent under an id that was merged into the person later. Its key is no property. */
const FLOOR = 'floor';

/** The record of a group itself. */
export const hashGroupMark = (hash: KeyedHash, of: string): Uint8Array => hash.property(of, GROUP, '');

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
}): PropertyFilter {
  const { hash, tables, at, overwrite } = options;

  /** Enters the value when it is sent as the best that is known. */
  const select = (
    of: string,
    field: string,
    [key, time]: StoredProperty,
    value: { keep: 'latest' | 'earliest'; replaces: boolean },
    onLater?: (key: string) => void,
  ): PropertyVerdict => {
    const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
    if (!table) return 'send';
    const property = hash.property(of, field, key);
    const timeMs = toTimeMs(time);
    const known = readPropertyEntry(table, property);
    const verdict = decideProperty(known, { timeMs, keep: value.keep, replaces: value.replaces }, at);
    if (verdict !== 'send') return verdict;
    const isLater = isLaterValue(known, timeMs);
    if (isLater) onLater?.(key);
    enterProperty(table, property, { timeMs, sentAt: at.turn, replaced: value.replaces, isLater }, known);
    return verdict;
  };
  const isKnown = (of: string, field: string, key: string): boolean => {
    const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
    const entry = table && readPropertyEntry(table, hash.property(of, field, key));
    return entry !== undefined && (entry.sentAt === at.turn || at.hasEnded(entry.sentAt));
  };

  const getFloor = (of: string): number => {
    const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
    const entry = table && readPropertyEntry(table, hash.property(of, FLOOR, ''));
    return entry?.timeMs ?? Number.NEGATIVE_INFINITY;
  };

  return {
    selectPerson(of, set, setOnce) {
      const floorMs = getFloor(of);
      const sentSet: StoredProperty[] = [];
      const fill: StoredProperty[] = [];
      const later = createLaterKeys();
      for (const one of set) {
        const replaces = overwrite && toTimeMs(one[1]) > floorMs;
        const verdict = select(of, SET, one, { keep: 'latest', replaces }, later.add);
        if (verdict === 'known') continue;
        if (!overwrite || (replaces && verdict === 'send')) sentSet.push(one);
        else fill.push(one);
      }
      const wasSet = new Set(set.map(([key]) => key));
      const filled = new Set(fill.map(([key]) => key));
      const candidates = overwrite
        ? setOnce.filter(([key]) => !filled.has(key))
        : setOnce.filter(([key]) => !wasSet.has(key) && !isKnown(of, SET, key));
      const sentOnce = candidates.filter(
        (one) => select(of, SET_ONCE, one, { keep: 'earliest', replaces: false }) !== 'known',
      );
      return { set: sentSet, later: later.keys(), fill, setOnce: sentOnce };
    },
    raiseFloor(of, timeMs) {
      const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
      if (!table || timeMs <= getFloor(of)) return;
      const floor = hash.property(of, FLOOR, '');
      const entry = { timeMs, sentAt: at.turn, replaced: false, isLater: false };
      writePropertyEntry(table, floor, entry, readPropertyEntry(table, floor));
    },
    selectGroup(of, set) {
      const isNew = select(of, GROUP, ['', '', ''], { keep: 'latest', replaces: false }) === 'send';
      if (at.isForgotten) return { set: [], later: NONE_LATER, isNew, unsure: [...set] };
      const sent: StoredProperty[] = [];
      const unsure: StoredProperty[] = [];
      const later = createLaterKeys();
      for (const one of set) {
        const verdict = select(of, SET, one, { keep: 'latest', replaces: true }, later.add);
        if (verdict === 'send') sent.push(one);
        else if (verdict === 'fill') unsure.push(one);
      }
      return { set: sent, later: later.keys(), isNew, unsure };
    },
    withdraw(of, entry, key) {
      const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
      if (table) withdrawProperty(table, hash.property(of, entry, key), at.turn);
    },
  };
}

/** Most subjects have none. */
function createLaterKeys() {
  let found: Set<string> | undefined;
  return {
    add: (key: string) => {
      found ??= new Set();
      found.add(key);
    },
    keys: () => found ?? NONE_LATER,
  };
}
