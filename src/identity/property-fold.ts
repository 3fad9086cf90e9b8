import { DeferredValues, haveOneScope, readValues } from '../contract/identity-fact.ts';
import { canonicalJson } from '../lib/json/canonical-json.ts';
import type { TextBuffer } from '../lib/text-buffer.ts';
import { PropertyRows } from '../state/facts/property-rows.ts';
import {
  covers as coversText,
  type Snapshot,
  type StoredProperty,
  splitMembers,
  toSnapshots,
} from '../state/facts/snapshots.ts';
import { renderSnapshot } from './render-snapshot.ts';

type Values = Readonly<Record<string, unknown>>;

/** A value as it came, or its canonical JSON text. */
interface Version {
  time: string;
  value: unknown;
  text: string | undefined;
}

/**
 * The properties of one person or group, one version each: the latest or the earliest by source
 * time. Of two at the same time the greater canonical text wins, so that the result does not depend on
 * the order of adding. Of the latest there is one for each scope, as what is gone in one may be there in another.
 *
 * Most records of a person repeat what the one before said: as long as one snapshot holds everything, it is
 * kept as it came, and nothing is taken apart.
 */
export class PropertyFold {
  readonly #keep: 'latest' | 'earliest';
  #time = '';
  /** The only snapshot, as values or as text; neither: there is none, or `#byKey` has everything. */
  #values: Values | DeferredValues | undefined;
  #text: string | undefined;
  #byKey: Map<string, Version> | undefined;
  /** What is of other scopes than that of `#time`. */
  #others: PropertyFold | undefined;

  constructor(keep: 'latest' | 'earliest') {
    this.#keep = keep;
  }

  get isEmpty(): boolean {
    return this.#values === undefined && this.#text === undefined && this.#byKey === undefined;
  }

  /** The values of one record. Those that are undefined are none. */
  add(time: string, values: Values | DeferredValues | undefined): void {
    if (values === undefined || !hasValues(values)) return;
    if (this.isEmpty) {
      this.#time = time;
      this.#values = values;
      return;
    }
    if (this.#isOfOthers(time)) {
      this.#openOthers().add(time, values);
      return;
    }
    const known = this.#values;
    if (known && time !== this.#time) {
      const isBetter = this.#keep === 'latest' ? time > this.#time : time < this.#time;
      if (isBetter && covers(values, known)) {
        this.#time = time;
        this.#values = values;
        return;
      }
      if (!isBetter && covers(known, values)) return;
    } else if (known && areSame(readValues(known), readValues(values))) return;
    const byKey = this.#expand();
    for (const [key, value] of Object.entries(readValues(values))) {
      if (value !== undefined) this.#addOne(byKey, key, { time, value, text: undefined });
    }
  }

  /** Adds what `snapshots` of another fold returned. Returns by how much memory grew, in bytes, estimated. */
  addSnapshot(time: string, text: string): number {
    if (this.isEmpty) {
      this.#time = time;
      this.#text = text;
      return text.length;
    }
    if (this.#isOfOthers(time)) return this.#openOthers().addSnapshot(time, text);
    if (this.#text === text) {
      if (this.#keep === 'latest' ? time > this.#time : time < this.#time) this.#time = time;
      return 0;
    }
    const known = this.#text;
    if (known !== undefined && time !== this.#time) {
      const isBetter = this.#keep === 'latest' ? time > this.#time : time < this.#time;
      if (isBetter && coversText(text, known)) {
        this.#time = time;
        this.#text = text;
        return Math.max(0, text.length - known.length);
      }
      if (!isBetter && coversText(known, text)) return 0;
    }
    const before = this.#byKey?.size ?? 0;
    const byKey = this.#expand();
    splitMembers(text, (key, member) => this.#addOne(byKey, key, { time, value: undefined, text: member }));
    const added = byKey.size - before;
    return added === 0 ? 0 : text.length + added * ENTRY_BYTES;
  }

  /** The latest time of all; empty when there is none. */
  get newest(): string {
    let newest = this.#others?.newest ?? '';
    if (!this.#byKey) return this.#time > newest ? this.#time : newest;
    for (const { time } of this.#byKey.values()) if (time > newest) newest = time;
    return newest;
  }

  /** Whether `writeRecord` writes it: it is what one record says, or nothing. */
  get isRecord(): boolean {
    return this.#others === undefined && (this.#values instanceof DeferredValues || this.isEmpty);
  }

  /** The time and the values, each behind a tab; nothing where there are none. */
  writeRecord(out: TextBuffer): void {
    const values = this.#values;
    if (!(values instanceof DeferredValues)) return;
    out.write(TAB);
    out.write(this.#time);
    out.write(TAB);
    values.write(out);
  }

  /** Newest first. */
  snapshots(): readonly Snapshot[] {
    const own = this.#listOwn();
    if (!this.#others) return own;
    return [...own, ...this.#others.snapshots()].sort((a, b) => (a.time > b.time ? -1 : 1));
  }

  #listOwn(): readonly Snapshot[] {
    if (this.#byKey) return toSnapshots(this.#list(this.#byKey));
    if (this.isEmpty) return [];
    // Not kept: a young text that an old object refers to is copied, even where nobody needs that object any more.
    return [{ time: this.#time, text: this.#text ?? renderSnapshot(readValues(this.#values ?? {})) }];
  }

  /** Sorted by key. A key may be there once for each scope, the latest first. */
  addTo(rows: PropertyRows): void {
    const from = rows.count;
    this.#addAll(rows);
    if (this.#byKey || this.#others) rows.sort(from);
  }

  /** The same as objects. */
  properties(): StoredProperty[] {
    listed.begin();
    this.addTo(listed);
    return Array.from({ length: listed.count }, (_, row) => ({
      key: listed.getKey(row),
      time: listed.getTime(row),
      text: listed.getText(row),
    }));
  }

  #addAll(rows: PropertyRows): void {
    if (this.#byKey) {
      for (const [key, version] of this.#byKey) rows.add(key, version.time, getText(version));
    } else if (this.#text !== undefined) rows.addSnapshot(this.#time, this.#text);
    else for (const { time, text } of this.#listOwn()) rows.addSnapshot(time, text);
    if (this.#others) this.#others.#addAll(rows);
  }

  #isOfOthers(time: string): boolean {
    return this.#keep === 'latest' && !haveOneScope(time, this.#time);
  }

  #openOthers(): PropertyFold {
    this.#others ??= new PropertyFold(this.#keep);
    return this.#others;
  }

  *#list(byKey: ReadonlyMap<string, Version>): Generator<StoredProperty> {
    for (const [key, version] of byKey) yield { key, time: version.time, text: getText(version) };
  }

  #expand(): Map<string, Version> {
    if (this.#byKey) return this.#byKey;
    const byKey = new Map<string, Version>();
    const time = this.#time;
    const values = readValues(this.#values ?? {});
    if (this.#text !== undefined) {
      splitMembers(this.#text, (key, text) => byKey.set(key, { time, value: undefined, text }));
    } else {
      for (const key of Object.keys(values)) {
        if (values[key] !== undefined) byKey.set(key, { time, value: values[key], text: undefined });
      }
    }
    this.#text = undefined;
    this.#values = undefined;
    this.#byKey = byKey;
    return byKey;
  }

  #addOne(byKey: Map<string, Version>, key: string, version: Version): void {
    const known = byKey.get(key);
    const isBetter =
      known === undefined ||
      (version.time === known.time
        ? getText(version) > getText(known)
        : this.#keep === 'latest'
          ? version.time > known.time
          : version.time < known.time);
    if (isBetter) byKey.set(key, version);
  }
}

const TAB = '\t';
const listed = new PropertyRows();

/** A map entry with its short strings. */
const ENTRY_BYTES = 150;

const getText = (version: Version): string => {
  version.text ??= canonicalJson(version.value);
  return version.text;
};

function hasValues(values: Values | DeferredValues): boolean {
  if (values instanceof DeferredValues) return values.keys.size > 0;
  for (const key of Object.keys(values)) if (values[key] !== undefined) return true;
  return false;
}

/** Whether `a` has a value for every property of `b`. */
function covers(a: Values | DeferredValues, b: Values | DeferredValues): boolean {
  if (a instanceof DeferredValues && b instanceof DeferredValues) {
    if (a.keys === b.keys) return true;
    for (const key of b.keys) if (!a.keys.has(key)) return false;
    return true;
  }
  return coversAll(readValues(a), readValues(b));
}

function coversAll(a: Values, b: Values): boolean {
  for (const key of Object.keys(b)) {
    if (b[key] !== undefined && (!Object.hasOwn(a, key) || a[key] === undefined)) return false;
  }
  return true;
}

/** Whether both have the same properties with the same values; false may be wrong of objects. */
function areSame(a: Values, b: Values): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) if (!Object.hasOwn(b, key) || a[key] !== b[key]) return false;
  return true;
}
