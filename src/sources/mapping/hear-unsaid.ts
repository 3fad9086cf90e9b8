import type { MappedEvent } from '../../contract/event.ts';
import type { Heard } from '../../contract/heard.ts';
import type { MapOutcome } from '../../contract/outcome.ts';

/**
 * A map whose records say who is who also where they are rejected, or left out without facts: what they say may forbid
 * a merge, which cannot be undone.
 */
export const hearUnsaid =
  <From>(map: (record: From) => MapOutcome<MappedEvent>, hear: (record: From) => Heard | undefined) =>
  (record: From): MapOutcome<MappedEvent> => {
    const outcome = map(record);
    return saysNothing(outcome) ? withHeard(outcome, hear(record)) : outcome;
  };

const saysNothing = (outcome: MapOutcome<MappedEvent>): boolean =>
  outcome.kind === 'rejected' ||
  (outcome.kind === 'skipped' && outcome.facts.length === 0 && outcome.userId === undefined);

export const withHeard = <Outcome extends MapOutcome<MappedEvent>>(
  outcome: Outcome,
  heard: Heard | undefined,
): Outcome => (heard ? { ...outcome, heard } : outcome);
