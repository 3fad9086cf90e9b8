import type { Migration } from '../migration.ts';

/**
 * Dashboards and what stands on them. A tile shows either an insight or a text, which dashboards may share;
 * on one dashboard each of them stands once. Nothing is ever removed but collaborators: `deleted` hides.
 */
export const dashboards: Migration = {
  version: 6,
  name: 'dashboards',
  statements: [
    // created_by null: nobody in particular made it
    `create table dashboards (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      name text collate "C",
      description text not null,
      pinned boolean not null,
      deleted boolean not null,
      creation_mode text not null,
      use_template text not null,
      use_dashboard integer references dashboards (id),
      restriction_level smallint not null check (restriction_level in (21, 37)),
      filters jsonb not null,
      tags text[] not null,
      created_by integer references users (id),
      created_at timestamptz not null default clock_timestamp()
    )`,
    `create index dashboards_by_name on dashboards (project_id, name, id) where not deleted`,
    `create table dashboard_texts (
      id integer generated always as identity primary key,
      body text not null,
      created_by integer references users (id),
      last_modified_by integer references users (id),
      last_modified_at timestamptz not null default clock_timestamp()
    )`,
    `create table dashboard_tiles (
      id integer generated always as identity primary key,
      dashboard_id integer not null references dashboards (id),
      insight_id integer references insights (id),
      text_id integer references dashboard_texts (id),
      layouts jsonb not null,
      color text,
      deleted boolean not null default false,
      check (num_nonnulls(insight_id, text_id) = 1),
      unique (dashboard_id, insight_id),
      unique (dashboard_id, text_id)
    )`,
    `create index dashboard_tiles_of_insight on dashboard_tiles (insight_id)`,
    `create index dashboard_tiles_of_text on dashboard_tiles (text_id)`,
    `create table dashboard_collaborators (
      id uuid primary key default gen_random_uuid(),
      dashboard_id integer not null references dashboards (id),
      user_id integer not null references users (id),
      level smallint not null check (level in (21, 37)),
      added_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      unique (dashboard_id, user_id)
    )`,
    // The token is shown to editors again and again, hence kept; visitors' tokens are looked up by hash.
    `create table dashboard_sharing (
      dashboard_id integer primary key references dashboards (id),
      enabled boolean not null,
      access_token text not null,
      token_hash text not null unique,
      created_at timestamptz not null default clock_timestamp()
    )`,
  ],
};
