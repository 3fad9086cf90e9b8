import { z } from 'zod';
import type { DestinationCounts, WantedEvents } from './destination-counts.ts';

const count = z.number().int().nonnegative();
const months = z.object({ results: z.array(z.object({ month: z.string(), count, others: count })) });
const days = z.object({
  results: z.array(z.object({ day: z.string(), event: z.string(), count, users: count })),
  users: count,
});

/** The numbers of the bundled API. `get` asks for a path below the project, and gives the body. */
export function createBundledCounts(
  get: (path: string) => Promise<unknown>,
  { stamp, synthetic }: WantedEvents,
): DestinationCounts {
  const toQuery = (more: Readonly<Record<string, string>>) =>
    new URLSearchParams({ ...stamp, ...more }).toString();
  return {
    async listMonths() {
      return months.parse(await get(`event_counts/months/?${toQuery({})}`)).results;
    },
    async loadMonth(month) {
      const query = toQuery({ month, without: JSON.stringify(synthetic) });
      const { results: cells, users } = days.parse(await get(`event_counts/days/?${query}`));
      return { cells, users, repeats: 0 };
    },
  };
}
