import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts } from '../../contract/progress.ts';
import type { FileTotals } from './totals.ts';

/** Records by file and day: a row for each file or group of files, a column for each day or range of days. */
export interface HeatMap {
  /** First and last UTC day of each column, or `unknown`. */
  readonly columns: readonly { readonly from: string; readonly to: string }[];
  readonly rows: readonly HeatRow[];
}

export interface HeatRow {
  /** The first and the last file of a group. */
  readonly file: string;
  readonly files: number;
  readonly parts: { readonly done: number; readonly staged: number };
  /** One for each column; undefined where nothing is imported yet. */
  readonly cells: readonly (RecordCounts | undefined)[];
}

/** As many as fit a page; more are joined, neighbours with neighbours. */
export const MAX_ROWS = 30;
export const MAX_COLUMNS = 24;

export function toHeatMap(files: readonly FileTotals[]): HeatMap {
  const inOrder = new Intl.Collator('en', { numeric: true });
  const sorted = [...files].sort((a, b) => inOrder.compare(a.file, b.file));
  const days = [...new Set(files.flatMap(({ byDay }) => [...byDay.keys()]))].sort();
  const groups = split(days, MAX_COLUMNS);
  return {
    columns: groups.map((group) => ({ from: group[0] ?? '', to: group.at(-1) ?? '' })),
    rows: split(sorted, MAX_ROWS).map((group) => toRow(group, groups)),
  };
}

function toRow(group: readonly FileTotals[], days: readonly (readonly string[])[]): HeatRow {
  const [first, last] = [group[0]?.file ?? '', group.at(-1)?.file ?? ''];
  const sum = (pick: (file: FileTotals) => number) => group.reduce((total, file) => total + pick(file), 0);
  return {
    file: group.length === 1 ? first : `${first} … ${last}`,
    files: group.length,
    parts: { done: sum(({ parts }) => parts.done), staged: sum(({ parts }) => parts.staged) },
    cells: days.map((range) => {
      const found = group.flatMap(({ byDay }) => range.flatMap((day) => byDay.get(day) ?? []));
      return found.length === 0 ? undefined : found.reduce(addCounts, zeroCounts());
    }),
  };
}

/** Neighbours in at most so many groups of nearly one size. */
function split<T>(items: readonly T[], most: number): T[][] {
  const size = Math.ceil(items.length / most) || 1;
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
