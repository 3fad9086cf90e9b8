import type { Migration } from '../migration.ts';

/** Who changed what. user_id null: the system itself. */
export const activity: Migration = {
  version: 3,
  name: 'activity',
  statements: [
    `create table activity_log (
      id bigint generated always as identity primary key,
      project_id integer not null references projects (id),
      user_id integer references users (id),
      scope text not null,
      item_id text not null,
      activity text not null,
      detail jsonb not null,
      created_at timestamptz not null default clock_timestamp()
    )`,
    `create index activity_log_of_item on activity_log (project_id, scope, item_id, id)`,
  ],
};
