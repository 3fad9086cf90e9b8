import type { Migration } from '../migration.ts';

/**
 * Finds people by their e-mail address, or a part of it. A column of its own, and not an index over
 * `properties`: Postgres keeps the new version of a row next to the old one only while nothing indexed has
 * changed, and properties change all the time. In lower case, as making it so is most of the work of a
 * search; cut to what an address can be, as an index takes no long texts. A search reads the index alone.
 *
 * `updated_at` is when properties last changed here; of people who were there before, when this step ran.
 */
export const persons: Migration = {
  version: 9,
  name: 'persons',
  statements: [
    `alter table persons add column email text collate "C"
       generated always as (lower(left(properties ->> 'email', 320))) stored`,
    `alter table persons add column updated_at timestamptz not null default clock_timestamp()`,
    `create index persons_by_email on persons (project_id, email) include (created_at, id)
       where email is not null`,
    `create index activity_log_newest on activity_log (project_id, scope, id)`,
  ],
};
