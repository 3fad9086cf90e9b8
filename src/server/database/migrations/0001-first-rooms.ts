import type { Migration } from '../migration.ts';

/**
 * Projects, personal keys, people, events and groups. Ids and names compare by bytes (collate "C"):
 * the same order on every server, and a faster index.
 */
export const firstRooms: Migration = {
  version: 1,
  name: 'first rooms',
  statements: [
    `create table projects (
      id integer generated always as identity primary key,
      uuid uuid not null unique default gen_random_uuid(),
      name text not null,
      api_token text not null unique,
      created_at timestamptz not null default now()
    )`,
    // project_ids null: every project
    `create table personal_api_keys (
      id integer generated always as identity primary key,
      label text not null,
      key_hash text not null unique,
      scopes text[] not null,
      project_ids integer[],
      created_at timestamptz not null default now(),
      last_used_at timestamptz,
      revoked_at timestamptz
    )`,
    // Persons are rewritten often: free space in each page keeps the new version next to the old one.
    `create table persons (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      uuid uuid not null,
      properties jsonb not null,
      is_identified boolean not null,
      created_at timestamptz not null,
      unique (project_id, uuid)
    ) with (fillfactor = 70)`,
    `create index persons_newest on persons (project_id, created_at desc, id desc)`,
    `create table person_distinct_ids (
      id integer generated always as identity,
      project_id integer not null,
      distinct_id text collate "C" not null,
      person_id integer not null references persons (id) on delete cascade,
      primary key (project_id, distinct_id)
    )`,
    `create index person_distinct_ids_of_person on person_distinct_ids (person_id)`,
    // person_id is the person's uuid when the event came in. Later merges do not rewrite events: who an
    // event belongs to now is asked through person_distinct_ids.
    `create table events (
      project_id integer not null,
      uuid uuid not null,
      event text collate "C" not null,
      distinct_id text collate "C" not null,
      person_id uuid,
      timestamp timestamptz not null,
      properties jsonb not null,
      received_at timestamptz not null default now(),
      primary key (project_id, uuid)
    )`,
    `create index events_of_distinct_id on events (project_id, distinct_id, timestamp)`,
    `create index events_by_name on events (project_id, event, timestamp)`,
    `create table group_types (
      project_id integer not null references projects (id),
      group_type text collate "C" not null,
      index smallint not null check (index between 0 and 4),
      primary key (project_id, group_type),
      unique (project_id, index)
    )`,
    `create table groups (
      project_id integer not null,
      group_type_index smallint not null,
      group_key text collate "C" not null,
      properties jsonb not null,
      created_at timestamptz not null,
      primary key (project_id, group_type_index, group_key)
    )`,
  ],
};
