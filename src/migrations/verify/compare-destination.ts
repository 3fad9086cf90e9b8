import type { PersonsTally } from '../../identity/persons-tally.ts';
import { foldNames } from './compare-vendor.ts';
import { addRows, type Comparison, type Explained, type Row, type Table, toRow } from './comparison.ts';
import { type Cell, type Counts, listKeys, toCellKey } from './event-counts.ts';
import type { Outcomes } from './outcomes-of.ts';

/** What a destination holds of a migration, without events about persons and groups. */
export interface Held {
  readonly byDay: Counts;
  readonly byEvent: Counts;
  readonly total: number;
  /** Persons with events, by month. */
  readonly usersByMonth: Counts;
  /** Events that carry no stamp of the migration. */
  readonly others: number;
}

export interface DestinationInput {
  readonly outcomes: Outcomes;
  readonly held: Held;
  /** Events about persons and groups that it holds. */
  readonly heldSynthetic: number;
  /** Whether its events carry its name. */
  readonly isStamped: boolean;
  /** Persons that the report expects. Absent where it knows none, or they are of several migrations. */
  readonly uniques: PersonsTally['uniques'];
}

/** What the report says should be there against what is. */
export function compareDestination({
  outcomes,
  held,
  heldSynthetic,
  isStamped,
  uniques,
}: DestinationInput): Comparison {
  const { byDay, byEvent, delivered, distinct = delivered, isOneToOne } = outcomes;
  /** Other events of the project are counted where nothing tells them apart, and never make up for missing ones. */
  const explain = (old: number, now: number): Explained[] =>
    isStamped || now <= old ? [] : [{ cause: 'not_told_apart', count: now - old }];
  const compare = (old: Counts, now: Counts): Row[] =>
    listKeys(old.keys(), now.keys())
      .map((key) => ({ key, old: old.get(key) ?? 0, now: now.get(key) ?? 0 }))
      .filter((one) => one.old !== 0 || one.now !== 0)
      .map((one) => toRow(one.key, one.old, one.now, explain(one.old, one.now)));
  const days = compare(toDelivered(byDay), held.byDay);
  const names = compare(toDelivered(byEvent), foldNames(held.byEvent, byEvent));
  const users = isStamped && uniques ? compareUsers(uniques, held) : [];
  // More may be there: of events whose acceptance was never heard, the report counts none.
  const lacksPeople = isStamped && heldSynthetic < outcomes.synthetic;
  return {
    old: 'report',
    now: 'destination',
    total: isOneToOne ? addRows(names) : toRow('all', distinct, held.total, explain(distinct, held.total)),
    tables: [
      ...(isOneToOne
        ? ([
            { by: 'day', rows: days },
            { by: 'event', rows: names },
          ] satisfies Table[])
        : []),
      ...(users.length > 0 ? [{ by: 'users', rows: users } satisfies Table] : []),
      ...(lacksPeople
        ? [{ by: 'people', rows: [toRow('all', outcomes.synthetic, heldSynthetic)] } satisfies Table]
        : []),
    ],
  };
}

const toDelivered = (by: Outcomes['byDay']): Counts =>
  new Map(Object.entries(by).map(([key, { delivered }]) => [key, delivered]));

/** Other events may have merged persons whom the migration keeps apart: nothing proves it, so it explains nothing. */
function compareUsers(uniques: NonNullable<PersonsTally['uniques']>, { usersByMonth }: Held): Row[] {
  return listKeys(Object.keys(uniques), usersByMonth.keys()).map((month) => {
    const { vendor, destination } = uniques[month] ?? { vendor: 0, destination: 0 };
    const now = usersByMonth.get(month) ?? 0;
    return toRow(month, vendor, now, [{ cause: 'merged_persons', count: destination - vendor }]);
  });
}

/**
 * Users of the vendor against persons at the destination, by day and event. Only where both have the same number
 * of events: else other events are counted, and so other people.
 */
export function compareUsersByEvent(
  vendor: Iterable<Cell>,
  findHeld: (key: string) => Cell | undefined,
  hasMerges: boolean,
): Table {
  const rows: Row[] = [];
  for (const cell of vendor) {
    const held = findHeld(toCellKey(cell));
    if (cell.users === undefined || held?.users === undefined || held.count !== cell.count) continue;
    const merged = hasMerges ? Math.min(0, held.users - cell.users) : 0;
    rows.push(toRow(toCellKey(cell), cell.users, held.users, [{ cause: 'merged_persons', count: merged }]));
  }
  return { by: 'users_by_event', rows };
}
