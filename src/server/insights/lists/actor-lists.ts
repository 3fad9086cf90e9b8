import { correlationActors } from '../correlation/actors.ts';
import { funnelActors } from '../funnel/actors.ts';
import { lifecycleActors } from '../lifecycle/actors.ts';
import { pathActors } from '../paths/actors.ts';
import { retentionActors } from '../retention/actors.ts';
import { stickinessActors } from '../stickiness/actors.ts';
import { trendsActors } from '../trends/actors.ts';
import type { ActorList } from './actor-list.ts';

/** Every list of persons behind numbers. The only list: routes and their documents derive from it. */
export const ACTOR_LISTS: readonly ActorList[] = [
  lifecycleActors,
  stickinessActors,
  retentionActors,
  trendsActors,
  funnelActors,
  correlationActors,
  pathActors,
];
