import type { Migration } from '../migration.ts';

/**
 * Events to delete, by the person whose they were. A row outlives its person: it is the only word on
 * which events go, and later the proof that they went.
 */
export const deletions: Migration = {
  version: 7,
  name: 'deletions',
  statements: [
    `create table deletions (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      person_uuid uuid not null,
      distinct_ids text[] not null,
      created_by integer references users (id),
      created_at timestamptz not null default clock_timestamp(),
      started_at timestamptz,
      deleted_events bigint not null default 0,
      verified_at timestamptz,
      last_error text
    )`,
    `create index deletions_open on deletions (id) where verified_at is null`,
    `create index deletions_by_verification on deletions (project_id, verified_at)`,
    // The moment of the insert and not of the transaction's begin: a request may have waited long for the
    // lock of its project, and a deletion compares the two times.
    `alter table events alter column received_at set default clock_timestamp()`,
  ],
};
