import type { IncomingEvent } from '../incoming-event.ts';
import { readId } from '../request/parse-event.ts';

/** The other id that, according to an event, belongs to the same person. */
export interface MergeRequest {
  readonly otherId: string;
  /** Merges even a person that is identified already. */
  readonly force: boolean;
}

export function toMergeRequest({ event, properties }: IncomingEvent): MergeRequest | undefined {
  const key = event === '$identify' ? '$anon_distinct_id' : 'alias';
  if (key === 'alias' && event !== '$create_alias' && event !== '$merge_dangerously') return undefined;
  const otherId = readId(properties[key]);
  return otherId === undefined ? undefined : { otherId, force: event === '$merge_dangerously' };
}

/** These events only change the person's profile; without a profile they have no effect. */
const PROFILE_EVENTS = new Set([
  '$identify',
  '$create_alias',
  '$merge_dangerously',
  '$groupidentify',
  '$group_identify',
]);

/** The sender wants no person to be created or changed. */
export const isPersonless = ({ properties }: IncomingEvent) =>
  properties['$process_person_profile'] === false;

export const isPointless = (event: IncomingEvent) => isPersonless(event) && PROFILE_EVENTS.has(event.event);
