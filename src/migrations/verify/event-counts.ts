/** Events of one UTC day and name. */
export interface Cell {
  readonly day: string;
  readonly event: string;
  readonly count: number;
  /** Different persons among them, where that is known. */
  readonly users?: number | undefined;
}

export type Counts = ReadonlyMap<string, number>;

/** Cells added up by day and by name: memory goes by these, not by events. */
export class EventCounts {
  readonly #byDay = new Map<string, number>();
  readonly #byEvent = new Map<string, number>();
  #total = 0;

  add({ day, event, count }: Cell): void {
    this.#byDay.set(day, (this.#byDay.get(day) ?? 0) + count);
    this.#byEvent.set(event, (this.#byEvent.get(event) ?? 0) + count);
    this.#total += count;
  }

  get byDay(): Counts {
    return this.#byDay;
  }

  get byEvent(): Counts {
    return this.#byEvent;
  }

  get total(): number {
    return this.#total;
  }
}

/** The key of a cell among others; names may hold any character but this one. */
export const toCellKey = ({ day, event }: Pick<Cell, 'day' | 'event'>): string => `${day} ${event}`;

/** Every key of both, in text order. */
export const listKeys = (a: Iterable<string>, b: Iterable<string>): string[] =>
  [...new Set([...a, ...b])].toSorted((one, other) => (one < other ? -1 : 1));
