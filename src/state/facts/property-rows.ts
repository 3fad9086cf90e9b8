import { findValueEnd } from '../../lib/json/value-end.ts';
import { TextBuffer } from '../../lib/text-buffer.ts';
import { FIRST, findName, getName, limitNames, type PropertyName } from './property-names.ts';

/**
 * The properties of one person or group, a row each. A person has ten of them, which as objects would be most of its
 * garbage, so they are numbers in columns, and the next subject takes the same columns.
 */
export class PropertyRows {
  count = 0;
  readonly names: PropertyName[] = [];
  /** Of each value's canonical JSON text in `bytes`. */
  starts = new Int32Array(FIRST_ROWS);
  stops = new Int32Array(FIRST_ROWS);
  /** What is found of each: 0 at first. */
  marks = new Uint8Array(FIRST_ROWS);
  /** Numbers of rows, for who needs them in another order. */
  order = new Int32Array(FIRST_ROWS);
  /** Whether all names and values are ASCII; false may be wrong. */
  isAscii = true;
  /** Of each, its place in `#times`. */
  #moments = new Int32Array(FIRST_ROWS);
  readonly #times: string[] = [];
  readonly #text = new TextBuffer(FIRST_BYTES);
  /** How often names were forgotten when the last subject began. */
  #forgotten = 0;

  /** Starts with the next subject. */
  begin(): void {
    const forgotten = limitNames();
    // What a subject with more rows left behind would keep all names of its time.
    if (forgotten !== this.#forgotten) this.names.length = 0;
    this.#forgotten = forgotten;
    this.count = 0;
    this.isAscii = true;
    this.#times.length = 0;
    this.#text.clear(MOST_KEPT_BYTES);
    if (this.starts.length > MOST_KEPT_ROWS) this.#setLength(FIRST_ROWS);
  }

  get bytes(): Buffer {
    return this.#text.bytes;
  }

  /** Of its name in front of the value, in `bytes`. */
  getStart(row: number): number {
    return (this.starts[row] as number) - (this.names[row] as PropertyName).label.length;
  }

  getKey(row: number): string {
    return (this.names[row] as PropertyName).key;
  }

  getTime(row: number): string {
    return this.#times[this.#moments[row] as number] as string;
  }

  /** The latest time of a row that is marked; empty where none is. */
  findLatestMarked(): string {
    let latest = '';
    let last = -1;
    for (let row = 0; row < this.count; row += 1) {
      const moment = this.#moments[row] as number;
      if (moment === last || this.marks[row] === 0) continue;
      last = moment;
      const time = this.#times[moment] as string;
      if (time > latest) latest = time;
    }
    return latest;
  }

  /** Of the value, in UTF-16 units. */
  countUnits(row: number): number {
    const start = this.starts[row] as number;
    const stop = this.stops[row] as number;
    return this.isAscii ? stop - start : this.bytes.toString('utf8', start, stop).length;
  }

  getText(row: number): string {
    return this.bytes.toString(this.isAscii ? 'latin1' : 'utf8', this.starts[row], this.stops[row]);
  }

  /**
   * The members of a snapshot in order. The text is cut, not parsed: what is between two members is known of canonical
   * JSON.
   */
  addSnapshot(time: string, snapshot: string): void {
    const text = this.#text;
    let at = text.end + 1;
    text.write(snapshot);
    const { bytes, end } = text;
    if (end - at + 1 !== snapshot.length) this.isAscii = false;
    const moment = this.#times.push(time) - 1;
    let name = FIRST;
    while (at < end - 1) {
      name = findName(bytes, at, end, name);
      const start = at + name.label.length;
      const stop = findValueEnd(bytes, start, end);
      this.#push(name, start, stop, moment);
      at = stop + 1;
    }
  }

  add(key: string, time: string, value: string): void {
    const text = this.#text;
    const name = getName(key);
    text.write(',');
    text.copy(name.label);
    const start = text.end;
    text.write(value);
    const { length } = this.#times;
    if (this.#times[length - 1] !== time) this.#times.push(time);
    this.#push(name, start, text.end, this.#times.length - 1);
    if (text.end - start !== value.length || name.label.length !== key.length + 3) this.isAscii = false;
  }

  /** Puts those from a row on in the order of their keys; of one key, the latest first. */
  sort(from: number): void {
    const order = Array.from({ length: this.count - from }, (_, at) => from + at);
    order.sort((a, b) => {
      const keyA = this.getKey(a);
      const keyB = this.getKey(b);
      if (keyA !== keyB) return keyA < keyB ? -1 : 1;
      return this.getTime(a) > this.getTime(b) ? -1 : 1;
    });
    const names = order.map((row) => this.names[row] as PropertyName);
    const columns = [this.starts, this.stops, this.#moments];
    const numbers = columns.map((column) => order.map((row) => column[row] as number));
    for (const [at, name] of names.entries()) this.names[from + at] = name;
    for (const [index, column] of columns.entries()) column.set(numbers[index] as number[], from);
  }

  /** Puts a row in the place of an earlier one. */
  move(row: number, to: number): void {
    this.names[to] = this.names[row] as PropertyName;
    this.starts[to] = this.starts[row] as number;
    this.stops[to] = this.stops[row] as number;
    this.#moments[to] = this.#moments[row] as number;
  }

  #push(name: PropertyName, start: number, stop: number, moment: number): void {
    const row = this.count;
    if (row === this.starts.length) this.#setLength(2 * row);
    this.names[row] = name;
    this.starts[row] = start;
    this.stops[row] = stop;
    this.marks[row] = 0;
    this.#moments[row] = moment;
    this.count = row + 1;
  }

  #setLength(rows: number): void {
    const kept = Math.min(rows, this.count);
    const resize = (column: Int32Array) => {
      const resized = new Int32Array(rows);
      resized.set(column.subarray(0, kept));
      return resized;
    };
    this.starts = resize(this.starts);
    this.stops = resize(this.stops);
    this.#moments = resize(this.#moments);
    this.marks = new Uint8Array(rows);
    this.order = new Int32Array(rows);
    this.names.length = kept;
  }
}

const FIRST_ROWS = 64;
const FIRST_BYTES = 4096;
/** Of what the largest subjects need the next one has nothing. */
const MOST_KEPT_ROWS = 4096;
const MOST_KEPT_BYTES = 1024 * 1024;
