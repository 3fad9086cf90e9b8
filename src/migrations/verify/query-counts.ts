import { z } from 'zod';
import { UnavailableError } from '../../lib/errors.ts';
import type { DestinationCounts, WantedEvents } from './destination-counts.ts';

/** Asks the service one question in its query language, and gives the body of the answer. */
export type AskQuery = (query: string) => Promise<unknown>;

const count = z.number().int().nonnegative();
const month = z.string().regex(/^\d{4}-\d\d/);
const rows = <T extends z.ZodType>(row: T) => z.object({ results: z.array(row) });
const monthRows = rows(z.tuple([month, count, count]));
const dayRows = rows(z.tuple([z.iso.date(), z.string(), count, count, count]));
const userRows = rows(z.tuple([count]));

/** Most rows of one answer. https://posthog.com/docs/api/queries */
const QUERY_ROWS = 50_000;

const UTC = `toTimeZone(timestamp, 'UTC')`;

/**
 * The numbers of a service that answers HogQL. Days are those of UTC, whatever the zone of the project; events that
 * were sent twice and are not merged yet count once.
 */
export function createQueryCounts(
  ask: AskQuery,
  { stamp, synthetic }: WantedEvents,
  pageRows: number = QUERY_ROWS,
): DestinationCounts {
  const own = stamp ? `properties.${quoteName(stamp.property)} = ${quoteText(stamp.value)}` : '1 = 1';
  const read = async <T extends z.ZodType>(schema: T, query: string): Promise<z.infer<T>> => {
    const answer = schema.safeParse(await ask(query));
    if (answer.success) return answer.data;
    throw new UnavailableError(
      `the query API of the destination answered something else than the rows that were asked for: ${z.prettifyError(answer.error)}`,
    );
  };
  return {
    async listMonths() {
      const { results } = await read(
        monthRows,
        `SELECT toString(toStartOfMonth(${UTC})) AS month, countIf(${own}) AS own, count() AS stored FROM events GROUP BY month ORDER BY month LIMIT ${pageRows}`,
      );
      return results.map(([start, own_, stored]) => ({
        month: start.slice(0, 'yyyy-mm'.length),
        count: own_,
        others: stored - own_,
      }));
    },
    async loadMonth(of) {
      const where = `WHERE ${own} AND ${inMonth(of)}`;
      const cells = [];
      let repeats = 0;
      for (let offset = 0; ; offset += pageRows) {
        const { results } = await read(
          dayRows,
          `SELECT toString(toDate(${UTC})) AS day, event, uniqExact(uuid, distinct_id) AS events, count() AS stored, uniqExact(person_id) AS users FROM events ${where} GROUP BY day, event ORDER BY day, event LIMIT ${pageRows} OFFSET ${offset}`,
        );
        for (const [day, event, events, stored, users] of results) {
          cells.push({ day, event, count: events, users });
          repeats += stored - events;
        }
        if (results.length < pageRows) break;
      }
      const names = synthetic.map(quoteText).join(', ');
      const { results } = await read(
        userRows,
        `SELECT uniqExact(person_id) AS users FROM events ${where}${names === '' ? '' : ` AND event NOT IN (${names})`}`,
      );
      return { cells, repeats, users: results[0]?.[0] ?? 0 };
    },
  };
}

function inMonth(of: string): string {
  const [year = 0, number = 0] = of.split('-').map(Number);
  const [from, until] = [number - 1, number].map((at) =>
    new Date(Date.UTC(year, at)).toISOString().slice(0, 'yyyy-mm-dd'.length),
  );
  return `timestamp >= toDateTime('${from} 00:00:00', 'UTC') AND timestamp < toDateTime('${until} 00:00:00', 'UTC')`;
}

const escapeWith = (text: string, quote: string) =>
  text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`);
const quoteText = (text: string): string => `'${escapeWith(text, "'")}'`;
const quoteName = (name: string): string => `\`${escapeWith(name, '`')}\``;
