import { BackhaulError, ConfigError } from '../../lib/errors.ts';
import type { Db, Queryable } from './db.ts';
import type { Migration } from './migration.ts';
import { firstRooms } from './migrations/0001-first-rooms.ts';
import { members } from './migrations/0002-members.ts';
import { activity } from './migrations/0003-activity.ts';
import { cohorts } from './migrations/0004-cohorts.ts';
import { insights } from './migrations/0005-insights.ts';
import { dashboards } from './migrations/0006-dashboards.ts';
import { deletions } from './migrations/0007-deletions.ts';
import { eventDefinitions } from './migrations/0008-event-definitions.ts';
import { persons } from './migrations/0009-persons.ts';
import { eventRows } from './migrations/0010-event-rows.ts';
import { flags } from './migrations/0011-flags.ts';
import { eventTimes } from './migrations/0012-event-times.ts';
import { wideRows } from './migrations/0013-wide-rows.ts';
import { projectCalendars } from './migrations/0014-project-calendars.ts';
import { actions } from './migrations/0015-actions.ts';
import { workerStatements } from './migrations/0016-worker-statements.ts';
import { arrivals } from './migrations/0017-arrivals.ts';

export const MIGRATIONS: readonly Migration[] = [
  firstRooms,
  members,
  activity,
  cohorts,
  insights,
  dashboards,
  deletions,
  eventDefinitions,
  persons,
  eventRows,
  flags,
  eventTimes,
  wideRows,
  projectCalendars,
  actions,
  workerStatements,
  arrivals,
];
/** Any number will do, as long as every process takes the same. */
const MIGRATION_LOCK = 4_201_967;

/**
 * Brings the tables to this version. Several processes may try at once: a lock lets one work.
 *
 * @default steps every step there is
 */
export async function migrate(db: Db, steps: readonly Migration[] = MIGRATIONS): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await assertUnicode(tx);
    await tx.query(`
      create table if not exists schema_migrations (
        version integer primary key,
        name text not null,
        applied_at timestamptz not null default now()
      )`);
    const applied = await tx.query<{ version: number }>('select version from schema_migrations');
    const newest = Math.max(0, ...applied.map(({ version }) => version));
    if (newest > (steps.at(-1)?.version ?? 0)) {
      throw new BackhaulError(
        'schema',
        `The database was set up by a newer Backhaul (schema ${newest}). Start that version, or point DATABASE_URL at another database.`,
        'never',
      );
    }
    for (const { version, name, statements } of steps) {
      if (version <= newest) continue;
      for (const statement of statements) await tx.query(statement);
      await tx.query('insert into schema_migrations (version, name) values ($1, $2)', [version, name]);
    }
  }, 'upkeep');
}

/** In another encoding, events with a name or a property that it lacks would be refused one by one. */
async function assertUnicode(tx: Queryable): Promise<void> {
  const [found] = await tx.query<{ name: string }>("select current_setting('server_encoding') as name");
  if (found?.name === 'UTF8') return;
  throw new ConfigError(
    `The database has the encoding ${found?.name}, which cannot hold every text of an event. Create one with UTF8, such as: create database backhaul encoding 'UTF8' template template0; and name it in DATABASE_URL.`,
  );
}
