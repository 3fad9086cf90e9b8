import { findStringEndInText, findValueEndInText } from '../../lib/json/value-end.ts';
import { PropertyRows } from './property-rows.ts';

/**
 * Properties that share a source time: the time, and their canonical JSON text as one object, its keys sorted.
 * Properties are stored and moved as such texts; they are taken apart only where they are compared or sent.
 */
export interface Snapshot {
  readonly time: string;
  readonly text: string;
}

export interface StoredProperty {
  readonly key: string;
  /** Source time of the kept value. */
  readonly time: string;
  /** The value's canonical JSON text. */
  readonly text: string;
}

/** Nothing about a person or group. */
export const NO_PROPERTIES = '0';

/**
 * What is known under one id, as text without a line feed: the number of snapshots that were set, those, and
 * those that were set once, newest first. A tab is between any two: JSON text contains none.
 */
export function renderProperties(set: readonly Snapshot[], setOnce: readonly Snapshot[]): string {
  let text = String(set.length);
  for (const one of set) text += `\t${one.time}\t${one.text}`;
  for (const one of setOnce) text += `\t${one.time}\t${one.text}`;
  return text;
}

export interface SnapshotLists {
  readonly set: readonly Snapshot[];
  readonly setOnce: readonly Snapshot[];
}

/** Throws where the text is not what `renderProperties` made. */
export function parseProperties(text: string): SnapshotLists {
  const set: Snapshot[] = [];
  const setOnce: Snapshot[] = [];
  const cursor = new SnapshotCursor();
  for (cursor.open(text); cursor.next(); )
    (cursor.isSet ? set : setOnce).push({ time: cursor.time, text: cursor.text });
  return { set, setOnce };
}

/** The same snapshots one after the other, without an object for each. */
export class SnapshotCursor {
  time = '';
  text = '';
  /** Whether the snapshot at hand was set. */
  isSet = false;
  #properties = '';
  /** In front of the next one; -1 behind the last one. */
  #tab = -1;
  /** Of those that were set. */
  #left = 0;

  open(properties: string): void {
    const tab = properties.indexOf('\t');
    const digits = tab === -1 ? properties.length : tab;
    let count = digits === 0 ? Number.NaN : 0;
    for (let at = 0; at < digits; at += 1) {
      const digit = properties.charCodeAt(at) - 0x30;
      count = digit >= 0 && digit <= 9 ? 10 * count + digit : Number.NaN;
    }
    if (Number.isNaN(count)) throw new Error('these are no properties');
    this.#properties = properties;
    this.#tab = tab;
    this.#left = count;
  }

  next(): boolean {
    const properties = this.#properties;
    const tab = this.#tab;
    if (tab === -1 && this.#left <= 0) return false;
    const behindTime = tab === -1 ? -1 : properties.indexOf('\t', tab + 1);
    if (behindTime === -1) throw new Error('these are no properties');
    const next = properties.indexOf('\t', behindTime + 1);
    this.time = properties.slice(tab + 1, behindTime);
    this.text = properties.slice(behindTime + 1, next === -1 ? properties.length : next);
    this.isSet = this.#left > 0;
    this.#left -= 1;
    this.#tab = next;
    return true;
  }
}

/** The latest time of a snapshot that was set; empty where there is none. */
export function findNewestSet(text: string): string {
  if (text.startsWith('0')) return '';
  const start = text.indexOf('\t') + 1;
  return text.slice(start, text.indexOf('\t', start));
}

/** Groups properties by their time, newest first; those of one time by key. */
export function toSnapshots(properties: Iterable<StoredProperty>): Snapshot[] {
  const byTime = new Map<string, [key: string, text: string][]>();
  for (const { key, time, text } of properties) {
    const known = byTime.get(time);
    if (known) known.push([key, text]);
    else byTime.set(time, [[key, text]]);
  }
  return [...byTime]
    .sort(([a], [b]) => (a > b ? -1 : 1))
    .map(([time, members]) => {
      const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
      return { time, text: `{${sorted.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}` };
    });
}

/** The members of a snapshot in order. */
export function splitMembers(text: string, each: (key: string, value: string) => void): void {
  rows.begin();
  rows.addSnapshot('', text);
  // Where a character is a byte, both have the same places.
  const { isAscii, count } = rows;
  for (let row = 0; row < count; row += 1) {
    const key = rows.getKey(row);
    each(key, isAscii ? text.slice(rows.starts[row], rows.stops[row]) : rows.getText(row));
  }
}

const rows = new PropertyRows();

/** Whether `a` has a member for every member of `b`. */
export function covers(a: string, b: string): boolean {
  let atA = 1;
  let atB = 1;
  while (atB < b.length - 1) {
    const label = b.slice(atB, findStringEndInText(b, atB) + 1);
    while (!a.startsWith(label, atA)) {
      if (atA >= a.length - 1) return false;
      atA = findValueEndInText(a, findStringEndInText(a, atA) + 1) + 1;
    }
    atA = findValueEndInText(a, atA + label.length) + 1;
    atB = findValueEndInText(b, atB + label.length) + 1;
  }
  return true;
}

/** The value of the JSON string from `start` to `end`. */
export function readString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}
