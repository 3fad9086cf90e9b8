import type { Held } from './compare-destination.ts';
import { type Cell, EventCounts, toCellKey } from './event-counts.ts';

/** What is asked for: the events of one migration. */
export interface WantedEvents {
  /** The property that they carry. Undefined: nothing tells them apart, and all events count. */
  readonly stamp: { readonly property: string; readonly value: string } | undefined;
  /** Names of events about persons and groups, which no record is. */
  readonly synthetic: readonly string[];
}

export interface MonthOfEvents {
  readonly month: string;
  readonly count: number;
  /** Events of others. */
  readonly others: number;
}

/** Asks a destination for numbers, a month at a time. */
export interface DestinationCounts {
  listMonths(): Promise<readonly MonthOfEvents[]>;
  loadMonth(month: string): Promise<{
    readonly cells: readonly Cell[];
    /** Persons with any event that is not synthetic. */
    readonly users: number;
    /** Rows that repeat others, and that the service will remove. */
    readonly repeats: number;
  }>;
}

export interface ReadCounts {
  readonly held: Held;
  readonly synthetic: number;
  readonly repeats: number;
  /** By day and name, for those that are asked for. */
  readonly cells: ReadonlyMap<string, Cell>;
}

/** `isWanted`: whether a cell counts at all, and `keeps`: whether it is looked up later. */
export async function readDestination(
  counts: DestinationCounts,
  { synthetic: names }: WantedEvents,
  isWanted: (cell: Cell) => boolean,
  keeps: (key: string) => boolean,
): Promise<ReadCounts> {
  const sums = new EventCounts();
  const cells = new Map<string, Cell>();
  const usersByMonth = new Map<string, number>();
  let [synthetic, repeats, others] = [0, 0, 0];
  for (const { month, count, others: more } of await counts.listMonths()) {
    others += more;
    if (count === 0) continue;
    const found = await counts.loadMonth(month);
    repeats += found.repeats;
    if (found.users > 0) usersByMonth.set(month, found.users);
    for (const cell of found.cells) {
      if (names.includes(cell.event)) synthetic += cell.count;
      else if (isWanted(cell)) {
        sums.add(cell);
        if (keeps(toCellKey(cell))) cells.set(toCellKey(cell), cell);
      }
    }
  }
  const { byDay, byEvent, total } = sums;
  return { held: { byDay, byEvent, total, usersByMonth, others }, synthetic, repeats, cells };
}
