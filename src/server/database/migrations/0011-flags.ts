import type { Migration } from '../migration.ts';

const TOUCH = 'touch_flags';

/** Increments the counter of a project whenever what its decisions are compiled from changes. */
const touchOn = (table: string, name: string, events: string): string =>
  `create trigger ${name} after ${events} on ${table} for each row execute function ${TOUCH}()`;

/**
 * Feature flags. Every process keeps the flags of a project compiled; `projects.flags_version`, which each
 * decision reads, tells it when to read them again. Triggers increment it, so that no statement can forget to.
 */
export const flags: Migration = {
  version: 11,
  name: 'flags',
  statements: [
    `create table feature_flags (
      id integer generated always as identity primary key,
      project_id integer not null references projects (id),
      key text collate "C" not null,
      name text not null,
      active boolean not null,
      deleted boolean not null default false,
      keeps_value boolean not null,
      filters jsonb not null,
      version integer not null default 1,
      created_by integer references users (id),
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    )`,
    `create unique index feature_flags_by_key on feature_flags (project_id, key) where not deleted`,
    // The identifier that a person's value of a flag is computed from for ever: that of the first decision
    // around its identification.
    `create table flag_hash_keys (
      person_id integer not null references persons (id) on delete cascade,
      flag_key text collate "C" not null,
      hash_key text not null,
      primary key (person_id, flag_key)
    )`,
    `alter table projects add column flags_version integer not null default 0`,
    `create function ${TOUCH}() returns trigger language plpgsql as $$
      begin
        update projects set flags_version = flags_version + 1 where id = coalesce(new.project_id, old.project_id);
        return null;
      end
    $$`,
    touchOn('feature_flags', 'feature_flags_touch', 'insert or update or delete'),
    touchOn('cohorts', 'cohorts_touch', 'insert or delete or update of filters, deleted, is_static'),
    touchOn('group_types', 'group_types_touch', 'insert or update or delete'),
  ],
};
