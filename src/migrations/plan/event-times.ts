import { IANAZone } from 'luxon';

/** When events happened, as the clocks of a zone show it. */
export interface EventTimes {
  /** IANA name. */
  readonly zone: string;
  /** Those of all records; else those of the sample. */
  readonly ofAll: boolean;
  /** Days with events, in order: `2024-01-31`. */
  readonly byDay: readonly { readonly day: string; readonly events: number }[];
  /** Of the 24 hours of the day, all days together. */
  readonly byHour: readonly number[];
}

const MINUTE_MS = 60_000;
/** The hours of every zone begin at a quarter of an hour in UTC. */
const QUARTER_MS = 15 * MINUTE_MS;

/** Counts events in bounded memory: one number for each quarter of an hour that has any. */
export class TimeCounts {
  readonly #quarters = new Map<number, number>();

  /** Of an ISO 8601 timestamp in UTC. */
  add(timestamp: string): void {
    const quarter = Math.floor(Date.parse(timestamp) / QUARTER_MS);
    this.#quarters.set(quarter, (this.#quarters.get(quarter) ?? 0) + 1);
  }

  toEventTimes(zone: string, ofAll: boolean): EventTimes {
    const { offset } = createOffsets(zone);
    const days = new Map<string, number>();
    const byHour = new Array<number>(24).fill(0);
    for (const [quarter, events] of this.#quarters) {
      const local = new Date(quarter * QUARTER_MS + offset(quarter) * MINUTE_MS);
      const day = local.toISOString().slice(0, 10);
      days.set(day, (days.get(day) ?? 0) + events);
      const hour = local.getUTCHours();
      byHour[hour] = (byHour[hour] ?? 0) + events;
    }
    const byDay = [...days]
      .map(([day, events]) => ({ day, events }))
      .toSorted((a, b) => (a.day < b.day ? -1 : 1));
    return { zone, ofAll, byDay, byHour };
  }
}

/** Asking a zone for its offset takes microseconds, and most days begin and end with the same one. */
function createOffsets(name: string): { offset: (quarter: number) => number } {
  const zone = IANAZone.create(name);
  const perDay = 96;
  const known = new Map<number, number | undefined>();
  const ask = (quarter: number) => zone.offset(quarter * QUARTER_MS);
  const findOfDay = (day: number): number | undefined => {
    const first = ask(day * perDay);
    return first === ask((day + 1) * perDay) ? first : undefined;
  };
  return {
    offset(quarter) {
      const day = Math.floor(quarter / perDay);
      if (!known.has(day)) known.set(day, findOfDay(day));
      return known.get(day) ?? ask(quarter);
    },
  };
}

const TIMESTAMP = Buffer.from('"timestamp":"');
const TIMESTAMP_LENGTH = '2024-01-31T12:00:00.000Z'.length;

/** Adds the events of a batch. Within a text of JSON a quote is escaped, so only the name itself is found. */
export function addBatch(
  counts: TimeCounts,
  { body, offsets }: { readonly body: Buffer; readonly offsets: readonly number[] },
): void {
  for (const start of offsets.slice(0, -1)) {
    const at = body.indexOf(TIMESTAMP, start) + TIMESTAMP.length;
    counts.add(body.toString('latin1', at, at + TIMESTAMP_LENGTH));
  }
}
