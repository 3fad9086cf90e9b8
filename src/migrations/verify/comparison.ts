/** Why an old number and a new one differ. */
export type Cause =
  /** Left out by a rule of the manifest or the map. */
  | 'skipped'
  /** A true repeat of another record. */
  | 'duplicate'
  /** Kept, with its reason, and replayable. */
  | 'rejected'
  /** Skipped or rejected, and without a time that can be read. */
  | 'no_day'
  /** Skipped or rejected, and without the name of an event. */
  | 'no_name'
  /** The same events under another name. */
  | 'renamed'
  /** The vendor's days begin at another hour: the events are on the day before or after. */
  | 'time_zone'
  /** Ids that the vendor counts as several users are one person, or the other way round. */
  | 'merged_persons'
  /** The migration stamps nothing, so other events of the project are counted, too. */
  | 'not_told_apart';

/** A share of a difference: above 0 where it makes the new number greater. */
export interface Explained {
  readonly cause: Cause;
  readonly count: number;
  /** The other name of what was renamed, or the reason why a whole name was skipped. */
  readonly name?: string;
}

/** One number, old against new: `now - old` is what the causes explain and what is left unexplained. */
export interface Row {
  /** A day (`2024-02-03`, UTC), a month, the name of an event, both, or `all`. */
  readonly key: string;
  readonly old: number;
  readonly now: number;
  readonly causes: readonly Explained[];
  readonly unexplained: number;
}

export type Subject = 'day' | 'event' | 'users' | 'users_by_event' | 'people';

export interface Table {
  readonly by: Subject;
  readonly rows: readonly Row[];
}

/** What is compared with what, in words that fit above a column. */
export interface Comparison {
  readonly old: 'report' | 'vendor';
  readonly now: 'destination' | 'report';
  /** The sum of all days. */
  readonly total: Row;
  readonly tables: readonly Table[];
}

/** A row whose causes are those that count at all. */
export function toRow(key: string, old: number, now: number, causes: readonly Explained[] = []): Row {
  const counting = causes.filter(({ count }) => count !== 0);
  const explained = counting.reduce((sum, { count }) => sum + count, 0);
  return { key, old, now, causes: counting, unexplained: now - old - explained };
}

/** The sum of rows of one table: causes by their kind, and what the rows leave unexplained in all. */
export function addRows(rows: readonly Row[]): Row {
  const causes = new Map<Cause, number>();
  let [old, now] = [0, 0];
  for (const row of rows) {
    old += row.old;
    now += row.now;
    for (const { cause, count } of row.causes) causes.set(cause, (causes.get(cause) ?? 0) + count);
  }
  return toRow(
    'all',
    old,
    now,
    [...causes].map(([cause, count]) => ({ cause, count })),
  );
}

/** Every row of a comparison that is left unexplained. */
export const listUnexplained = ({ total, tables }: Comparison): Row[] =>
  [total, ...tables.flatMap(({ rows }) => rows)].filter(({ unexplained }) => unexplained !== 0);
