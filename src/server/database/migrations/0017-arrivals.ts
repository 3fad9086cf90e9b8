import type { Migration } from '../migration.ts';

/**
 * What orders events and deletions, where the clock of the database may be set back: until when events of a project
 * may have come in (deletions/arrivals.ts), and until when those came in that a deletion takes. What is stored
 * already counts as received by now.
 */
export const arrivals: Migration = {
  version: 17,
  name: 'arrivals',
  statements: [
    `create table arrivals (
      project_id integer primary key references projects (id),
      received_until timestamptz not null
    ) with (fillfactor = 50)`,
    `insert into arrivals (project_id, received_until) select id, clock_timestamp() from projects`,
    `alter table deletions add column covers_until timestamptz`,
    `update deletions set covers_until = created_at`,
    `alter table deletions alter column covers_until set not null`,
  ],
};
