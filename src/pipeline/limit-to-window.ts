import type { MappedEvent } from '../contract/event.ts';
import { toHeardAtTime } from '../contract/heard.ts';
import type { IdentityFact } from '../contract/identity-fact.ts';
import type { MapOutcome, Mapped, Skipped } from '../contract/outcome.ts';
import type { MapRecord } from '../sources/source.ts';

/** Moments as ISO 8601 in UTC with milliseconds, so that text order is time order; `until` itself is out. */
export interface Window {
  readonly from?: string;
  readonly until?: string;
}

/**
 * A map that skips what is outside a window, by the time of each event. Of records outside no facts about persons
 * count; they are heard, because a device may have its other user in them alone. What has no time that can be read,
 * such as a reject, stays what it is.
 */
export function limitToWindow<Event extends MappedEvent>(
  map: MapRecord<Event>,
  { from = '', until = END_OF_TIME }: Window,
): MapRecord<Event> {
  const isInside = (time: string) => time >= from && time < until;

  const skip = (outcome: Mapped<Event> | Skipped, timestamp: string, event?: string): Skipped => ({
    kind: 'skipped',
    reason: timestamp < from ? 'before_window' : 'after_window',
    facts: [],
    of: event === undefined ? { timestamp } : { timestamp, event },
    heard: toHeardAtTime(outcome),
  });

  return (record): MapOutcome<Event> => {
    const outcome = map(record);
    if (outcome.kind === 'rejected') return outcome;
    if (outcome.kind === 'mapped') {
      const { events } = outcome;
      const [first] = events;
      if (events.length === 1 && first) {
        // What a record says has its time, or that of what it repeats, a moment before.
        return isInside(first.timestamp) ? outcome : skip(outcome, first.timestamp, first.event);
      }
      const kept = events.filter(({ timestamp }) => isInside(timestamp));
      if (kept.length === 0 && first) return skip(outcome, first.timestamp, first.event);
      return limitFacts({ ...outcome, events: kept });
    }
    const [first] = outcome.facts;
    return first && !outcome.facts.some(isKept) ? skip(outcome, first.time) : limitFacts(outcome);
  };

  /** What is outside of a record that is not outside as a whole is heard as well. */
  function limitFacts<Outcome extends Mapped<Event> | Skipped>(outcome: Outcome): Outcome {
    const { facts, seen, heard } = outcome;
    const isSeen = seen !== undefined && isInside(seen.time);
    if (facts.every(isKept) && (isSeen || !seen)) return outcome;
    const outside = facts.filter((fact) => !isKept(fact));
    return {
      ...outcome,
      facts: facts.filter(isKept),
      seen: isSeen ? seen : undefined,
      heard: toHeardAtTime({ facts: outside, seen: isSeen ? undefined : seen, heard }),
    };
  }

  /** That two of the vendor's persons are one holds at any time. */
  function isKept({ kind, time }: IdentityFact): boolean {
    return kind === 'join' || isInside(time);
  }
}

/** After every time that is read. */
const END_OF_TIME = '9';
