import type { Migration } from '../migration.ts';

/**
 * Whose keys these are: an organisation has members at a level (1 member, 8 administrator, 15 owner) and
 * projects. What stood before belongs to the first organisation and its owner. People sign in nowhere:
 * a personal key speaks for its user, and no password exists.
 */
export const members: Migration = {
  version: 2,
  name: 'members',
  statements: [
    `create table organizations (
      id uuid primary key default gen_random_uuid(),
      name text not null,
      created_at timestamptz not null default clock_timestamp()
    )`,
    `create table users (
      id integer generated always as identity primary key,
      uuid uuid not null unique default gen_random_uuid(),
      distinct_id text not null unique default gen_random_uuid()::text,
      first_name text not null,
      last_name text not null default '',
      email text not null,
      is_email_verified boolean not null default false,
      hedgehog_config jsonb not null default '{}',
      created_at timestamptz not null default clock_timestamp()
    )`,
    `create unique index users_email on users (lower(email))`,
    `create table organization_members (
      organization_id uuid not null references organizations (id),
      user_id integer not null references users (id),
      level smallint not null check (level in (1, 8, 15)),
      joined_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, user_id)
    )`,
    `insert into organizations (name) values ('Backhaul')`,
    `insert into users (first_name, email) values ('Owner', 'owner@backhaul.invalid')`,
    `insert into organization_members (organization_id, user_id, level)
     select o.id, u.id, 15 from organizations o cross join users u`,
    `alter table projects add column organization_id uuid references organizations (id)`,
    `update projects set organization_id = (select id from organizations)`,
    `alter table projects alter column organization_id set not null`,
    `alter table personal_api_keys add column user_id integer references users (id)`,
    `update personal_api_keys set user_id = (select id from users)`,
    `alter table personal_api_keys alter column user_id set not null`,
  ],
};
