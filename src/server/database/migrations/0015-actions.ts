import type { Migration } from '../migration.ts';

/** Saved groups of conditions on events; an event is one of an action where it fits one of its steps. */
export const actions: Migration = {
  version: 15,
  name: 'actions',
  statements: [
    `create table actions (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      name text,
      description text not null default '',
      tags text[] not null default '{}',
      steps jsonb not null,
      deleted boolean not null default false,
      created_by integer references users (id),
      created_at timestamptz not null default clock_timestamp()
    )`,
    `create index actions_of_project on actions (project_id, id) where not deleted`,
  ],
};
