import { correlationPeople } from './correlation/people.ts';
import { funnelPeople } from './funnel/people.ts';
import { lifecyclePeople } from './lifecycle/people.ts';
import { pathPeople } from './paths/people.ts';
import type { PeopleKind } from './people-kind.ts';
import { retentionPeople } from './retention/people.ts';
import { stickinessPeople } from './stickiness/people.ts';
import { trendsPeople } from './trends/people.ts';

/** Every list of persons behind numbers. The only list: routes and their documents derive from it. */
export const PEOPLE_KINDS: readonly PeopleKind[] = [
  lifecyclePeople,
  stickinessPeople,
  retentionPeople,
  trendsPeople,
  funnelPeople,
  correlationPeople,
  pathPeople,
];
