import { printable } from '../../migrations/plan/format-text.ts';
import type { Plan } from '../../migrations/plan/plan.ts';

/** What a plan says in the terminal and on its page alike. */
export const DEVICES = {
  none: 'those of several users stay apart from all of them',
  first: 'those of several users are merged into the first one',
  last: 'those of several users are merged into the last one',
} as const;

export function describeTimeSpan({ timeSpan, times }: Plan): string {
  const [first, last] = [times.byDay[0], times.byDay.at(-1)];
  if (times.ofAll && first && last) return `${first.day} to ${last.day}, days of ${times.zone}`;
  return timeSpan
    ? `${timeSpan.from} to ${timeSpan.to} (sampled)`
    : 'unknown: no sampled record becomes an event';
}

export function describeWindow({ from, until }: NonNullable<Plan['window']>): string {
  const begin = from === undefined ? '' : `from ${from} `;
  return `only events ${begin}${until === undefined ? 'on' : `until ${until}, which is out itself`}`;
}

/** Where the countries and cities of events come from. */
export function describePlaces(geoip: string | undefined): string {
  if (geoip === undefined)
    return 'as the export names them; the service looks none up ($geoip_disable). source.geoip takes a .mmdb file, or leaves it to the service';
  if (geoip === 'destination')
    return 'looked up by the service, from $ip and its table of today; not for events without $ip';
  return `as the export names them, else by $ip from ${printable(geoip)}, which is copied and pinned when the migration begins`;
}

type Note = NonNullable<Plan['notes']>[number]['note'];

export const NOTES: Readonly<Record<Note, string>> = {
  no_session_id: 'without $session_id: none fits the event',
  time_computed: 'times computed from client and server clocks',
  time_after_arrival: 'times after arrival, set back to it',
  own_group_type: 'group types that only group calls name',
  long_group_key: 'group keys of more than 200 characters, which are left out',
};
