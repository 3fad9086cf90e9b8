import { flatten } from '../../lib/json/flatten.ts';
import { findStringEnd, findValueEnd } from '../../lib/json/value-end.ts';

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
  let tab = text.indexOf('\t');
  const count = tab === -1 ? text : text.slice(0, tab);
  const inSet = /^\d+$/.test(count) ? Number(count) : Number.POSITIVE_INFINITY;
  const set: Snapshot[] = [];
  const setOnce: Snapshot[] = [];
  while (tab !== -1) {
    const behindTime = text.indexOf('\t', tab + 1);
    if (behindTime === -1) throw new Error('these are no properties');
    const next = text.indexOf('\t', behindTime + 1);
    const snapshot = {
      time: text.slice(tab + 1, behindTime),
      text: text.slice(behindTime + 1, next === -1 ? text.length : next),
    };
    if (set.length < inSet) set.push(snapshot);
    else setOnce.push(snapshot);
    tab = next;
  }
  if (set.length < inSet) throw new Error('these are no properties');
  return { set, setOnce };
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

/**
 * The members of a snapshot in order. The text is cut, not parsed: what is between two members is known of
 * canonical JSON.
 */
export function splitMembers(text: string, each: (key: string, value: string) => void): void {
  let at = 1;
  for (let member = 0; at < text.length - 1; member += 1) {
    const name = findName(text, at, member);
    const valueStart = at + name.label.length;
    const valueEnd = findValueEnd(text, valueStart);
    each(name.key, text.slice(valueStart, valueEnd));
    at = valueEnd + 1;
  }
}

/** Whether `a` has a member for every member of `b`. */
export function covers(a: string, b: string): boolean {
  let atA = 1;
  let atB = 1;
  for (let member = 0; atB < b.length - 1; member += 1) {
    const { label } = findName(b, atB, member);
    while (!a.startsWith(label, atA)) {
      if (atA >= a.length - 1) return false;
      atA = findValueEnd(a, findStringEnd(a, atA) + 1) + 1;
    }
    atA = findValueEnd(a, atA + label.length) + 1;
    atB = findValueEnd(b, atB + label.length) + 1;
  }
  return true;
}

/** A key, and its text in front of a value, with the colon. */
interface Name {
  readonly key: string;
  readonly label: string;
}

/**
 * By the place among the members: persons of one project mostly have the same, and no text is made for these. Two of
 * each place, as what is set and what is set once take turns.
 */
const lastNames: Name[] = [];
const namesBefore: Name[] = [];
const NAMES_KEPT = 500;

function findName(text: string, start: number, member: number): Name {
  const last = lastNames[member];
  if (last && text.startsWith(last.label, start)) return last;
  const before = namesBefore[member];
  if (before && text.startsWith(before.label, start)) return before;
  const end = findStringEnd(text, start);
  // Copies: a slice would keep the whole text alive.
  const name = {
    key: JSON.parse(text.slice(start, end)) as string,
    label: flatten(`${text.slice(start, end)}:`),
  };
  if (member < NAMES_KEPT) {
    if (last) namesBefore[member] = last;
    lastNames[member] = name;
  }
  return name;
}

/** The value of the JSON string from `start` to `end`. */
export function readString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}
