import type { Migration } from '../migration.ts';

/** Where the days of a project begin (an IANA time zone), and its weeks: 0 is Sunday, 1 Monday. */
export const projectCalendars: Migration = {
  version: 14,
  name: 'project calendars',
  statements: [
    `alter table projects add column time_zone text not null default 'UTC',
       add column week_start_day smallint not null default 0 check (week_start_day in (0, 1))`,
  ],
};
