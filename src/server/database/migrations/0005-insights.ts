import type { Migration } from '../migration.ts';

export const insights: Migration = {
  version: 5,
  name: 'insights',
  statements: [
    // created_by null: it stems from a template
    `create table insights (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      short_id text collate "C" not null,
      name text,
      derived_name text,
      description text,
      filters jsonb not null,
      query jsonb,
      tags text[] not null,
      saved boolean not null,
      favorited boolean not null default false,
      deleted boolean not null default false,
      is_sample boolean not null,
      created_by integer references users (id),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      last_modified_by integer references users (id),
      last_modified_at timestamptz not null default now(),
      unique (project_id, short_id)
    )`,
  ],
};
