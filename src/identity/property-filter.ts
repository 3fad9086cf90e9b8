import type { StoredProperty } from '../state/facts.ts';
import type { KeyedHash } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import {
  decideProperty,
  type PropertyContext,
  readPropertyEntry,
  toTimeMs,
  writePropertyEntry,
} from './property-decision.ts';

/** Selects what is sent about a person or group, and enters it into the ledger. `of`: see ResolvedFact. */
export interface PropertyFilter {
  /** Of a property both set and set once, `set` won at the source: where nothing is replaced it wins here, too. */
  selectPerson(
    of: string,
    set: readonly StoredProperty[],
    setOnce: readonly StoredProperty[],
  ): { set: StoredProperty[]; setOnce: StoredProperty[] };
  /** `isNew`: no other turn has sent the group itself. */
  selectGroup(of: string, set: readonly StoredProperty[]): { set: StoredProperty[]; isNew: boolean };
}

/** Fields of the ledger's table; a group has its own subject, so `set` serves both. */
const SET = 'set';
const SET_ONCE = 'set_once';
/** Marks that a group was sent. Its key is no property. */
const GROUP = 'group';

export function createPropertyFilter(options: {
  readonly hash: KeyedHash;
  /** By bucket; those of every subject that is selected. */
  readonly tables: ReadonlyMap<number, RecordTable>;
  readonly at: PropertyContext;
  /** Whether set properties replace live ones, or only fill gaps. Those of groups always replace. */
  readonly overwrite: boolean;
}): PropertyFilter {
  const { hash, tables, at, overwrite } = options;

  /** True, and entered, when the value is sent. */
  const select = (
    of: string,
    field: string,
    [key, time]: StoredProperty,
    value: { keep: 'latest' | 'earliest'; replaces: boolean },
  ): boolean => {
    const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
    if (!table) return true;
    const property = hash.property(of, field, key);
    const timeMs = toTimeMs(time);
    if (!decideProperty(readPropertyEntry(table, property), { ...value, timeMs }, at)) return false;
    writePropertyEntry(table, property, { timeMs, sentAt: at.turn, replaced: value.replaces });
    return true;
  };
  const isKnown = (of: string, field: string, key: string): boolean => {
    const table = tables.get(Number.parseInt(of.slice(0, 2), 16));
    return table !== undefined && table.find(hash.property(of, field, key)) !== -1;
  };

  return {
    selectPerson(of, set, setOnce) {
      const sentSet = set.filter((one) => select(of, SET, one, { keep: 'latest', replaces: overwrite }));
      const wasSet = new Set(set.map(([key]) => key));
      const candidates = overwrite
        ? setOnce
        : setOnce.filter(([key]) => !wasSet.has(key) && !isKnown(of, SET, key));
      const sentOnce = candidates.filter((one) =>
        select(of, SET_ONCE, one, { keep: 'earliest', replaces: false }),
      );
      return { set: sentSet, setOnce: sentOnce };
    },
    selectGroup(of, set) {
      const isNew = select(of, GROUP, ['', '', ''], { keep: 'latest', replaces: false });
      return {
        set: set.filter((one) => select(of, SET, one, { keep: 'latest', replaces: true })),
        isNew,
      };
    },
  };
}
