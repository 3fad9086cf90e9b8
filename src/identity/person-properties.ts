import { findNewestSet, parseProperties, renderProperties } from '../state/facts/snapshots.ts';
import { PropertyFold } from './property-fold.ts';

/**
 * What is known under one id. Text that was read is passed on as it is, as long as nothing else is added to it.
 */
export class PersonProperties {
  #text: string | undefined;
  #folds: { readonly set: PropertyFold; readonly setOnce: PropertyFold } | undefined;

  get isEmpty(): boolean {
    if (this.#text !== undefined) return this.#text === '0';
    return !this.#folds || (this.#folds.set.isEmpty && this.#folds.setOnce.isEmpty);
  }

  /** The latest time of a property that was set; empty where there is none. */
  get newestSet(): string {
    return this.#text === undefined ? (this.#folds?.set.newest ?? '') : findNewestSet(this.#text);
  }

  get set(): PropertyFold {
    return this.#open().set;
  }

  get setOnce(): PropertyFold {
    return this.#open().setOnce;
  }

  /** See renderProperties. Returns by how much memory grew, in bytes, estimated. */
  addText(text: string): number {
    if (this.#text === text) return 0;
    if (this.#text === undefined && !this.#folds) {
      this.#text = text;
      return text.length;
    }
    const { set, setOnce } = this.#open();
    const added = parseProperties(text);
    let grownBy = 0;
    for (const snapshot of added.set) grownBy += set.addSnapshot(snapshot);
    for (const snapshot of added.setOnce) grownBy += setOnce.addSnapshot(snapshot);
    return grownBy;
  }

  /** What `addText` takes. */
  get text(): string {
    if (this.#text !== undefined) return this.#text;
    const { set, setOnce } = this.#open();
    return renderProperties(set.snapshots(), setOnce.snapshots());
  }

  #open() {
    if (this.#folds) return this.#folds;
    this.#folds = { set: new PropertyFold('latest'), setOnce: new PropertyFold('earliest') };
    if (this.#text !== undefined) {
      const { set, setOnce } = parseProperties(this.#text);
      this.#text = undefined;
      for (const snapshot of set) this.#folds.set.addSnapshot(snapshot);
      for (const snapshot of setOnce) this.#folds.setOnce.addSnapshot(snapshot);
    }
    return this.#folds;
  }
}
