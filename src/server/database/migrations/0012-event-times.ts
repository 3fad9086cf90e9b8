import type { Migration } from '../migration.ts';

/** Events in order of time: without it, the newest of a project were found by sorting all of them. */
export const eventTimes: Migration = {
  version: 12,
  name: 'event times',
  statements: [`create index events_by_time on events (project_id, timestamp, uuid)`],
};
