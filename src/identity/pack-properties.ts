import type { PropertyName } from '../state/facts/property-names.ts';
import type { PropertyRows } from '../state/facts/property-rows.ts';
import { FILLS, IS_ONCE, KIND } from './property-decision.ts';
import type { PropertyField } from './property-filter.ts';

/** The properties of one event: of the rows of a person or group those at some places of their order. */
export interface PropertyPack {
  readonly rows: PropertyRows;
  readonly start: number;
  readonly stop: number;
  /** Of names and values as JSON, with what is around them. */
  readonly bytes: number;
}

export interface PropertyPacks {
  readonly packs: readonly PropertyPack[];
  /** Numbers of rows. */
  readonly tooLarge: readonly number[];
}

/** Constant, because where properties are cut decides the uuids (I2). Fits the smallest batch of a manifest. */
const PACK_BYTES = 56 * 1024;

/** The properties that a destination stores of one person or group, as JSON; it drops an event that brings more. */
const PROFILE_BYTES = 512 * 1024;

/**
 * Cuts what is marked of one person or group into few events, in order. A property larger than a pack gets a pack of its
 * own; one that fits into no event of `maxBytes`, or beside the others into no profile, is returned in `tooLarge`.
 * Valid until the next call.
 */
export function packProperties(rows: PropertyRows, setCount: number, maxBytes: number): PropertyPacks {
  const count = orderRows(rows, setCount);
  const { order, names, starts, stops } = rows;
  const mostBytes = Math.min(PACK_BYTES, maxBytes);
  let packs: readonly PropertyPack[] = NO_PACKS;
  let tooLarge: number[] | undefined;
  let total = 0;
  let start = 0;
  let stop = 0;
  let packed = 0;
  for (let at = 0; at < count; at += 1) {
    const row = order[at] as number;
    // With what is around both: of a name its label has one of two bytes.
    const { label } = names[row] as PropertyName;
    const bytes = label.length + (stops[row] as number) - (starts[row] as number) + 1;
    if (bytes > maxBytes || total + bytes > PROFILE_BYTES) {
      tooLarge ??= [];
      tooLarge.push(row);
      continue;
    }
    total += bytes;
    if (packed + bytes > mostBytes && stop > start) {
      packs = [...packs, { rows, start, stop, bytes: packed }];
      start = stop;
      packed = 0;
    }
    order[stop] = row;
    stop += 1;
    packed += bytes;
  }
  if (stop > start) {
    const last = { rows, start, stop, bytes: packed };
    packs = packs.length === 0 ? [last] : [...packs, last];
  }
  return { packs, tooLarge: tooLarge ?? NONE };
}

const NO_PACKS: readonly PropertyPack[] = [];
const NONE: readonly number[] = [];

/**
 * Rows in the order in which they are sent: what fills gaps by key, of what is set and set once, each of which is sorted,
 * and then what replaces. Returns their number.
 */
function orderRows({ order, names, marks, count }: PropertyRows, setCount: number): number {
  let ordered = 0;
  let once = setCount;
  for (let row = 0; row < setCount; row += 1) {
    if (marks[row] !== FILLS) continue;
    const { key } = names[row] as PropertyName;
    for (; once < count; once += 1) {
      if (marks[once] !== IS_ONCE) continue;
      if ((names[once] as PropertyName).key >= key) break;
      order[ordered++] = once;
    }
    order[ordered++] = row;
  }
  for (; once < count; once += 1) if (marks[once] === IS_ONCE) order[ordered++] = once;
  for (let row = 0; row < setCount; row += 1) {
    const kind = (marks[row] as number) & KIND;
    if (kind !== 0 && kind !== FILLS) order[ordered++] = row;
  }
  return ordered;
}

/** Under what the ledger has the properties of an event: field and key of each. */
export interface PropertyRecords {
  readonly entries: readonly PropertyField[];
  readonly keys: readonly string[];
}

/** Most subjects have one event with the same names as the one before: one list serves all of them. */
let lastRecords: PropertyRecords = { entries: [], keys: [] };
let lastList: readonly PropertyRecords[] = [lastRecords];

/** Of each pack; `getEntry`: the field of a row. */
export function toRecordLists(
  packs: readonly PropertyPack[],
  getEntry: (row: number) => PropertyField,
): readonly PropertyRecords[] {
  const [first] = packs;
  if (!first || packs.length > 1) return packs.map((pack) => toRecords(pack, getEntry));
  const records = toRecords(first, getEntry);
  if (lastList[0] !== records) lastList = [records];
  return lastList;
}

function toRecords(pack: PropertyPack, getEntry: (row: number) => PropertyField): PropertyRecords {
  if (!areLast(pack, getEntry)) {
    const { rows, start, stop } = pack;
    const own = Array.from(rows.order.subarray(start, stop));
    lastRecords = { entries: own.map(getEntry), keys: own.map((row) => rows.getKey(row)) };
  }
  return lastRecords;
}

function areLast({ rows, start, stop }: PropertyPack, getEntry: (row: number) => PropertyField): boolean {
  const { entries, keys } = lastRecords;
  if (stop - start !== keys.length) return false;
  for (let at = start; at < stop; at += 1) {
    const row = rows.order[at] as number;
    if (keys[at - start] !== rows.getKey(row) || entries[at - start] !== getEntry(row)) return false;
  }
  return true;
}
