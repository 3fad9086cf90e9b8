import type { Lines } from './fact-object.ts';

/**
 * Lines of several objects in the order of their ids. They stay bytes until they are read: what is kept of a line is
 * three numbers, so that nothing outlives the young generation but what is made of the lines at hand.
 */
export class OrderedLines<T> {
  readonly #sources: {
    readonly lines: Lines;
    readonly parse: (line: string) => T;
    readonly first: number;
  }[] = [];
  readonly #orders: number[] = [];
  readonly #starts: number[] = [];
  readonly #stops: number[] = [];
  #bytes = 0;

  /** Of all lines, those that are not wanted among them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `getOrder`: of lines that begin with none. */
  add(
    lines: Lines,
    parse: (line: string) => T,
    { getOrder, isWanted }: { getOrder(fact: T): number; isWanted(order: number): boolean },
  ): void {
    this.#bytes += lines.length;
    this.#sources.push({ lines, parse, first: this.#orders.length });
    lines.eachPlace((written, start, stop) => {
      const order = written === -1 ? getOrder(lines.parseAt(parse, start, stop)) : written;
      if (!isWanted(order)) return;
      this.#orders.push(order);
      this.#starts.push(start);
      this.#stops.push(stop);
    });
  }

  /** Lines of one order come as they were added. `line`: valid until the next one. */
  *list(): Generator<{ readonly order: number; parse(): T }> {
    const sources = this.#sources;
    const keys = new Float64Array(this.#orders.length);
    const sourceOf = new Uint32Array(this.#orders.length);
    for (let at = 0, source = 0; at < keys.length; at += 1) {
      while (at >= (sources[source + 1]?.first ?? Number.POSITIVE_INFINITY)) source += 1;
      sourceOf[at] = source;
      keys[at] = (this.#orders[at] ?? 0) * MOST_LINES + at;
    }
    keys.sort();
    let at = 0;
    const line = {
      order: 0,
      parse: (): T => {
        const { lines, parse } = sources[sourceOf[at] ?? 0] as (typeof sources)[number];
        return lines.parseAt(parse, this.#starts[at] ?? 0, this.#stops[at] ?? 0);
      },
    };
    for (const key of keys) {
      at = key % MOST_LINES;
      line.order = (key - at) / MOST_LINES;
      yield line;
    }
  }
}

/** With the 32 bits of an order, what a double holds exactly; a line has more bytes than the bits that are left. */
const MOST_LINES = 2 ** 21;
