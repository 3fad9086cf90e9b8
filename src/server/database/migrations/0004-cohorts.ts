import type { Migration } from '../migration.ts';

/**
 * Sets of people: a static one holds its members, a dynamic one says who they are. `count` is how many
 * there were at `last_calculation`.
 */
export const cohorts: Migration = {
  version: 4,
  name: 'cohorts',
  statements: [
    `create table cohorts (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      name text,
      description text not null default '',
      is_static boolean not null default false,
      groups jsonb not null default '[]',
      filters jsonb not null default '{}',
      deleted boolean not null default false,
      created_by integer references users (id),
      created_at timestamptz not null default clock_timestamp(),
      count integer,
      last_calculation timestamptz,
      errors_calculating integer not null default 0
    )`,
    `create index cohorts_of_project on cohorts (project_id, id) where not deleted`,
    `create table cohort_members (
      cohort_id integer not null references cohorts (id) on delete cascade,
      person_id integer not null references persons (id) on delete cascade,
      primary key (cohort_id, person_id)
    )`,
    `create index cohort_members_of_person on cohort_members (person_id)`,
  ],
};
