import type { TextBuffer } from '../lib/text-buffer.ts';
import { findNewestSet, renderProperties, SnapshotCursor } from '../state/facts/snapshots.ts';
import { PropertyFold } from './property-fold.ts';

/**
 * What is known under one id. Text that was read is passed on as it is, as long as nothing else is added to it.
 */
export class PersonProperties {
  #text: string | undefined;
  #set: PropertyFold | undefined;
  #setOnce: PropertyFold | undefined;

  get isEmpty(): boolean {
    if (this.#text !== undefined) return this.#text === '0';
    return this.#set?.isEmpty !== false && this.#setOnce?.isEmpty !== false;
  }

  /** The latest time of a property that was set; empty where there is none. */
  get newestSet(): string {
    return this.#text === undefined ? (this.#set?.newest ?? '') : findNewestSet(this.#text);
  }

  get set(): PropertyFold {
    this.#takeApart();
    this.#set ??= new PropertyFold('latest');
    return this.#set;
  }

  get setOnce(): PropertyFold {
    this.#takeApart();
    this.#setOnce ??= new PropertyFold('earliest');
    return this.#setOnce;
  }

  /** See renderProperties. Returns by how much memory grew, in bytes, estimated. */
  addText(text: string): number {
    if (this.#text === text) return 0;
    if (this.#text === undefined && !this.#set && !this.#setOnce) {
      this.#text = text;
      return text.length;
    }
    this.#takeApart();
    return this.#addSnapshots(text);
  }

  /** What `addText` takes. */
  get text(): string {
    if (this.#text !== undefined) return this.#text;
    return renderProperties(this.#set?.snapshots() ?? [], this.#setOnce?.snapshots() ?? []);
  }

  /** Writes `text`. What one record says is copied from it. */
  write(out: TextBuffer): void {
    const set = this.#set;
    const setOnce = this.#setOnce;
    if (this.#text !== undefined || set?.isRecord === false || setOnce?.isRecord === false) {
      out.write(this.text);
      return;
    }
    out.write(set?.isEmpty === false ? '1' : '0');
    set?.writeRecord(out);
    setOnce?.writeRecord(out);
  }

  #takeApart(): void {
    const text = this.#text;
    if (text === undefined) return;
    this.#text = undefined;
    this.#addSnapshots(text);
  }

  #addSnapshots(text: string): number {
    let grownBy = 0;
    for (cursor.open(text); cursor.next(); )
      grownBy += (cursor.isSet ? this.set : this.setOnce).addSnapshot(cursor.time, cursor.text);
    return grownBy;
  }
}

const cursor = new SnapshotCursor();
