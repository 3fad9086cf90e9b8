import type { DestinationCounts, WantedEvents } from '../../src/migrations/verify/destination-counts.ts';
import type { StrictDestination } from './strict-destination.ts';

/** What a strict destination, which stores an event once, answers to `verify`. */
export function countStored(
  destination: Pick<StrictDestination, 'events'>,
  { stamp, synthetic }: WantedEvents,
): DestinationCounts {
  const cells = new Map<string, { day: string; event: string; count: number; users: undefined }>();
  for (const { event, timestamp, properties } of destination.events().values()) {
    if (synthetic.includes(event) || !stamp || properties[stamp.property] !== stamp.value) continue;
    const day = timestamp.slice(0, 10);
    const cell = cells.get(`${day} ${event}`) ?? { day, event, count: 0, users: undefined };
    cells.set(`${day} ${event}`, cell);
    cell.count += 1;
  }
  const months = new Map<string, number>();
  for (const { day, count } of cells.values())
    months.set(day.slice(0, 7), (months.get(day.slice(0, 7)) ?? 0) + count);
  return {
    listMonths: async () => [...months].map(([month, count]) => ({ month, count, others: 0 })),
    loadMonth: async (month) => ({
      cells: [...cells.values()].filter(({ day }) => day.startsWith(month)),
      users: 0,
      repeats: 0,
    }),
  };
}
