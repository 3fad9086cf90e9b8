import type { Migration } from '../migration.ts';

/** The names of events seen so far, kept by ingestion, and what people say of them. */
export const eventDefinitions: Migration = {
  version: 8,
  name: 'event definitions',
  statements: [
    `create table event_definitions (
      id uuid primary key default gen_random_uuid(),
      project_id integer not null references projects (id),
      name text collate "C" not null,
      created_at timestamptz not null default clock_timestamp(),
      last_seen_at timestamptz not null default clock_timestamp(),
      description text not null default '',
      tags text[] not null default '{}',
      owner_id integer references users (id),
      post_to_slack boolean not null default false,
      verified_at timestamptz,
      verified_by integer references users (id),
      updated_at timestamptz,
      updated_by integer references users (id),
      unique (project_id, name)
    )`,
    `insert into event_definitions (project_id, name, created_at, last_seen_at)
     select project_id, event, min(received_at), max(received_at) from events
     where event <> '$$plugin_metrics' group by project_id, event`,
    // Counts removals: what processes remember of the definitions before one is void (ingest/defined-names.ts).
    `alter table projects add column definitions_removed integer not null default 0`,
  ],
};
