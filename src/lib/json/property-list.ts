import { hashText, lanes, SEED_TEXT } from '../hash-text.ts';
import { JsonToken } from './json-token.ts';

/**
 * The properties of one event, in the order in which they were set. It behaves as an object does (a name that is
 * set again keeps its place, names that are whole numbers come first) at a third of the cost: an object of forty
 * names is a hash table to V8, built again for every record. `toObject` and the writer of event texts read it.
 */
export class PropertyList {
  #names: PropertyName[];
  #values: unknown[];
  #count = 0;
  #marks = 0;
  #hasNumbers = false;
  readonly #id: number;

  constructor() {
    const room = spareRoom.pop();
    this.#names = room?.names ?? [];
    this.#values = room?.values ?? [];
    lastId = (lastId + 1) | 0;
    this.#id = lastId;
    owner = lastId;
  }

  get count(): number {
    return this.#count;
  }

  /** In the order of an object's keys; only `count` of them are of this list. */
  get names(): readonly PropertyName[] {
    if (this.#hasNumbers) this.#sortNumbers();
    return this.#names;
  }

  /** As many. One may be undefined, and is left out of texts then; one that is still text is a JsonToken. */
  get values(): readonly unknown[] {
    if (this.#hasNumbers) this.#sortNumbers();
    return this.#values;
  }

  get(name: string | PropertyName): unknown {
    return readValue(this.getText(name));
  }

  /** The same; a value that is still text stays so. */
  getText(name: string | PropertyName): unknown {
    const place = this.#find(typeof name === 'string' ? getName(name) : name);
    return place === -1 ? undefined : this.#values[place];
  }

  has(name: string | PropertyName): boolean {
    return this.#find(typeof name === 'string' ? getName(name) : name) !== -1;
  }

  set(name: string | PropertyName, value: unknown): void {
    const named = typeof name === 'string' ? getName(name) : name;
    const place = this.#find(named);
    if (place !== -1) {
      this.#values[place] = value;
      return;
    }
    const at = this.#count;
    this.#count = at + 1;
    named.list = this.#id;
    named.place = at;
    this.#names[at] = named;
    this.#values[at] = value;
    this.#marks |= named.mark;
    if (named.isNumber) this.#hasNumbers = true;
  }

  delete(name: string | PropertyName): void {
    const named = typeof name === 'string' ? getName(name) : name;
    const place = this.#find(named);
    if (place === -1) return;
    this.#count -= 1;
    this.#names.copyWithin(place, place + 1, this.#count + 1);
    this.#values.copyWithin(place, place + 1, this.#count + 1);
    named.list = 0;
    this.#claim();
  }

  /** Whether a name of that mark may be in it; false is certain. See `markNames`. */
  mayHave(mark: number): boolean {
    return (this.#marks & mark) !== 0;
  }

  /** Leaves its memory to another list. Nobody may use it any more. */
  release(): void {
    if (spareRoom.length < SPARE_LISTS && this.#names.length <= MOST_SPARE_NAMES) {
      spareRoom.push({ names: this.#names, values: this.#values });
    }
    this.#names = [];
    this.#values = [];
    this.#count = 0;
  }

  toObject(): Record<string, unknown> {
    const { names, values } = this;
    const object: Record<string, unknown> = {};
    for (let at = 0; at < this.#count; at += 1) {
      object[(names[at] as PropertyName).text] = readValue(values[at]);
    }
    return object;
  }

  /** A name knows its place in the list that was written to last. */
  #find(name: PropertyName): number {
    if (owner !== this.#id) this.#claim();
    return name.list === this.#id ? name.place : -1;
  }

  #claim(): void {
    owner = this.#id;
    for (let place = 0; place < this.#count; place += 1) {
      const name = this.#names[place] as PropertyName;
      name.list = this.#id;
      name.place = place;
      known.set(name.text, name);
    }
  }

  #sortNumbers(): void {
    const members = this.#names.slice(0, this.#count).map((name, at) => ({ name, value: this.#values[at] }));
    const numbers = members.filter(({ name }) => name.isNumber);
    numbers.sort((a, b) => Number(a.name.text) - Number(b.name.text));
    const sorted = [...numbers, ...members.filter(({ name }) => !name.isNumber)];
    this.#names = sorted.map(({ name }) => name);
    this.#values = sorted.map(({ value }) => value);
    this.#hasNumbers = false;
    this.#claim();
  }
}

/** Arrays of lists that were released: growing new ones is most of the garbage of an event. */
const spareRoom: { readonly names: PropertyName[]; readonly values: unknown[] }[] = [];
const SPARE_LISTS = 8;
const MOST_SPARE_NAMES = 512;

/** Values that only pass through stay text. */
const readValue = (value: unknown): unknown => (value instanceof JsonToken ? value.read() : value);

/** The id among the properties of an event, which every event has. */
export const readDistinctId = (properties: PropertyList | { readonly distinct_id: string }): string =>
  properties instanceof PropertyList ? String(properties.get('distinct_id')) : properties.distinct_id;

/** A name of a member, with what is needed again and again to write and to hash it. */
export interface PropertyName {
  readonly text: string;
  /** `,"name":` */
  readonly bytes: Uint8Array;
  /** The two words of its hash. */
  readonly hashA: number;
  readonly hashB: number;
  /** An index of an array: an object has such keys in front, in ascending order. */
  readonly isNumber: boolean;
  /** Whether a table holds it. */
  isPinned: boolean;
  /** See `markNames`; 0 of most names. */
  mark: number;
  /** The list that it was set in last, as a number: a reference would be one more for the garbage collector. */
  list: number;
  /** Its place there. */
  place: number;
}

/** Lists are numbered from 1. */
let lastId = 0;
/** The list that was written to last. */
let owner = 0;

let known = new Map<string, PropertyName>();
/** How often the known names were forgotten. */
let forgotten = 0;
const KNOWN_NAMES = 8_192;

/**
 * Forgets names that are not pinned, once they are too many: ids that are used as names may be any number. Returns
 * how often that was; names from before must not be set in new lists. Called in front of each record.
 */
export function limitNames(): number {
  if (known.size > KNOWN_NAMES + pinned.size) {
    known = new Map(pinned);
    owner = 0;
    forgotten += 1;
  }
  return forgotten;
}

/** Names that tables hold. */
const pinned = new Map<string, PropertyName>();

/** A name that stays known, to be kept by who sets it for every record. */
export function pinName(text: string): PropertyName {
  const name = getName(text);
  name.isPinned = true;
  pinned.set(text, name);
  return name;
}

let marks = 0;

/**
 * Pins names that are looked for together, and seldom there. The mark returned is for `mayHave`, which says in one
 * step that a list has none of them.
 */
export function markNames(texts: Iterable<string>): number {
  if (marks === MOST_MARKS) throw new RangeError(`there are ${MOST_MARKS} marks of names already`);
  const mark = 1 << marks;
  marks += 1;
  for (const text of texts) pinName(text).mark |= mark;
  return mark;
}
const MOST_MARKS = 31;

export function getName(text: string): PropertyName {
  let name = known.get(text);
  if (!name) {
    hashText(text, SEED_TEXT);
    name = {
      text,
      bytes: Buffer.from(`,${JSON.stringify(text)}:`),
      hashA: lanes[0] as number,
      hashB: lanes[1] as number,
      isNumber: INDEX.test(text) && Number(text) < 2 ** 32 - 1,
      isPinned: false,
      mark: 0,
      list: 0,
      place: 0,
    };
    known.set(text, name);
  }
  return name;
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;
