import type { StoredProperty } from '../state/facts.ts';
import { JsonText, toCanonicalText } from './json-text.ts';

interface Version {
  time: string;
  value: unknown;
}

/**
 * The properties of one person or group, one version each: the latest or the earliest by source
 * time. Of two at the same time the greater canonical text wins, so that the result does not depend on
 * the order of adding. Values are serialised only when they must be compared or stored.
 */
export class PropertyFold {
  readonly #keep: 'latest' | 'earliest';
  readonly #byKey = new Map<string, Version>();

  constructor(keep: 'latest' | 'earliest') {
    this.#keep = keep;
  }

  get size(): number {
    return this.#byKey.size;
  }

  add(key: string, time: string, value: unknown): void {
    if (value === undefined) return;
    const known = this.#byKey.get(key);
    if (!known) {
      this.#byKey.set(key, { time, value });
    } else if (time === known.time) {
      if (value !== known.value && toCanonicalText(value) > toCanonicalText(known.value)) known.value = value;
    } else if (this.#keep === 'latest' ? time > known.time : time < known.time) {
      known.time = time;
      known.value = value;
    }
  }

  /** Returns by how much memory grew, in bytes, estimated. */
  addAll(properties: readonly StoredProperty[]): number {
    let grownBy = 0;
    for (const [key, time, text] of properties) {
      const before = this.#byKey.size;
      this.add(key, time, new JsonText(text));
      if (this.#byKey.size > before) grownBy += key.length + text.length + ENTRY_BYTES;
    }
    return grownBy;
  }

  /** The latest time of all; empty when there is none. */
  get newest(): string {
    let newest = '';
    for (const { time } of this.#byKey.values()) if (time > newest) newest = time;
    return newest;
  }

  /** Sorted by key. */
  stored(): StoredProperty[] {
    return [...this.#byKey]
      .map(([key, { time, value }]): StoredProperty => [key, time, toCanonicalText(value)])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** A map entry with its short strings. */
const ENTRY_BYTES = 150;
