import { DAY_MS } from '../../lib/day.ts';
import type { IncomingEvent } from './incoming-event.ts';

/**
 * What makes two events one row, as the service decides it: a uuid alone does not.
 * See https://posthog.com/docs/data/events
 */
export interface RowKey {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  /** Days since 1970, UTC. */
  readonly day: number;
}

const toDay = (timestamp: string): number => Math.floor(Date.parse(timestamp) / DAY_MS);

const isRow = (row: RowKey, { event, distinctId, timestamp }: IncomingEvent): boolean =>
  row.event === event && row.distinctId === distinctId && row.day === toDay(timestamp);

/** Of events that are one row the first one counts. */
export function dropRepeats(events: readonly IncomingEvent[]): readonly IncomingEvent[] {
  const seen = new Map<string, IncomingEvent>();
  /** Rows beside the first of their uuid. */
  const more = new Set<string>();
  const toText = ({ uuid, event, distinctId, timestamp }: IncomingEvent) =>
    JSON.stringify([uuid, event, distinctId, toDay(timestamp)]);
  return events.filter((event) => {
    const first = seen.get(event.uuid);
    if (first === undefined) {
      seen.set(event.uuid, event);
      return true;
    }
    const row = toText(event);
    if (row === toText(first) || more.has(row)) return false;
    more.add(row);
    return true;
  });
}

/** The events that are none of these rows. */
export function dropRows(
  events: readonly IncomingEvent[],
  rows: readonly RowKey[],
): readonly IncomingEvent[] {
  const byUuid = new Map<string, RowKey[]>();
  for (const row of rows) byUuid.set(row.uuid, [...(byUuid.get(row.uuid) ?? []), row]);
  return events.filter((event) => byUuid.get(event.uuid)?.some((row) => isRow(row, event)) !== true);
}
