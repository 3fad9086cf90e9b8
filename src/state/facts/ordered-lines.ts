import type { Lines } from './fact-object.ts';

interface Source<T> {
  readonly lines: Lines;
  readonly parse: (line: string) => T;
}

/**
 * Lines of several objects in the order of their ids. They stay bytes until they are read: what is kept of a line is
 * a few numbers, so that nothing outlives the young generation but what is made of the lines at hand.
 */
export class OrderedLines<T> {
  readonly #sources: Source<T>[] = [];
  #count = 0;
  /** Of each line, as it was added. */
  #orders = new Float64Array(FIRST_LINES);
  #starts = new Uint32Array(FIRST_LINES);
  #stops = new Uint32Array(FIRST_LINES);
  #sourceOf = new Uint32Array(FIRST_LINES);
  /** The line at each place in order. */
  #inOrder = new Uint32Array(0);
  #bytes = 0;

  /** Of all lines, those that are not wanted among them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lines in order. */
  get length(): number {
    return this.#inOrder.length;
  }

  /** `getOrder`: of lines that begin with none. */
  add(
    lines: Lines,
    parse: (line: string) => T,
    { getOrder, isWanted }: { getOrder(fact: T): number; isWanted(order: number): boolean },
  ): void {
    this.#bytes += lines.length;
    const source = this.#sources.push({ lines, parse }) - 1;
    lines.eachPlace((written, start, stop) => {
      const order = written === -1 ? getOrder(lines.parseAt(parse, start, stop)) : written;
      if (!isWanted(order)) return;
      if (this.#count === this.#orders.length) this.#enlarge();
      this.#orders[this.#count] = order;
      this.#starts[this.#count] = start;
      this.#stops[this.#count] = stop;
      this.#sourceOf[this.#count] = source;
      this.#count += 1;
    });
  }

  /** Puts all lines in order; those of one order stay as they were added. Returns their number. */
  sort(): number {
    const keys = new Float64Array(this.#count);
    for (let at = 0; at < keys.length; at += 1) keys[at] = (this.#orders[at] as number) * MOST_LINES + at;
    keys.sort();
    // Without a remainder: above 2^31 that is slow.
    this.#inOrder = new Uint32Array(keys.length);
    for (let place = 0; place < keys.length; place += 1) {
      const key = keys[place] as number;
      this.#inOrder[place] = key - Math.floor(key / MOST_LINES) * MOST_LINES;
    }
    return keys.length;
  }

  /** Of the line at a place in order, as `parse`. */
  getOrder(place: number): number {
    return this.#orders[this.#inOrder[place] as number] as number;
  }

  countBytes(place: number): number {
    const line = this.#inOrder[place] as number;
    return (this.#stops[line] as number) - (this.#starts[line] as number);
  }

  parse(place: number): T {
    const line = this.#inOrder[place] as number;
    const { lines, parse } = this.#sources[this.#sourceOf[line] as number] as Source<T>;
    return lines.parseAt(parse, this.#starts[line] as number, this.#stops[line] as number);
  }

  #enlarge(): void {
    this.#orders = copyInto(new Float64Array(2 * this.#count), this.#orders);
    this.#starts = copyInto(new Uint32Array(2 * this.#count), this.#starts);
    this.#stops = copyInto(new Uint32Array(2 * this.#count), this.#stops);
    this.#sourceOf = copyInto(new Uint32Array(2 * this.#count), this.#sourceOf);
  }
}

function copyInto<Numbers extends Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  larger: Numbers,
  numbers: Numbers,
): Numbers {
  larger.set(numbers);
  return larger;
}

const FIRST_LINES = 1_000;

/** With the 32 bits of an order, what a double holds exactly; a line has more bytes than the bits that are left. */
const MOST_LINES = 2 ** 21;
