import type { MappedEvent } from '../contract/event.ts';
import type { IdentityFact } from '../contract/identity-fact.ts';
import type { MapOutcome, Skipped } from '../contract/outcome.ts';
import type { MapRecord } from '../sources/source.ts';

/** Moments as ISO 8601 in UTC with milliseconds, so that text order is time order; `until` itself is out. */
export interface Window {
  readonly from?: string;
  readonly until?: string;
}

/**
 * A map that skips what is outside a window, by the time of each event. Records outside say nothing about persons
 * either. What has no time that can be read, such as a reject, stays what it is.
 */
export function limitToWindow<Event extends MappedEvent>(
  map: MapRecord<Event>,
  { from = '', until = END_OF_TIME }: Window,
): MapRecord<Event> {
  const isInside = (time: string) => time >= from && time < until;

  const skip = (timestamp: string, event?: string): Skipped => ({
    kind: 'skipped',
    reason: timestamp < from ? 'before_window' : 'after_window',
    facts: [],
    of: event === undefined ? { timestamp } : { timestamp, event },
  });

  return (record): MapOutcome<Event> => {
    const outcome = map(record);
    if (outcome.kind === 'rejected') return outcome;
    const { facts } = outcome;
    if (outcome.kind === 'mapped') {
      const { events } = outcome;
      const [first] = events;
      if (events.length === 1 && first) {
        // What a record says has its time, or that of what it repeats, a moment before.
        return isInside(first.timestamp) ? outcome : skip(first.timestamp, first.event);
      }
      const kept = events.filter(({ timestamp }) => isInside(timestamp));
      if (kept.length === 0 && first) return skip(first.timestamp, first.event);
      return { ...outcome, events: kept, facts: inside(facts) };
    }
    const kept = inside(facts);
    const [first] = facts;
    if (kept.length === 0 && first) return skip(first.time);
    const seen = outcome.seen && isInside(outcome.seen.time) ? outcome.seen : undefined;
    return kept.length === facts.length && seen === outcome.seen
      ? outcome
      : { ...outcome, facts: kept, seen };
  };

  /** That two of the vendor's persons are one holds at any time. */
  function isKept({ kind, time }: IdentityFact): boolean {
    return kind === 'join' || isInside(time);
  }

  function inside(all: readonly IdentityFact[]): IdentityFact[] {
    return all.filter(isKept);
  }
}

/** After every time that is read. */
const END_OF_TIME = '9';
