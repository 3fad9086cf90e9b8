import type { Logger } from 'pino';
import type { Db } from '../db.ts';
import { isOutage } from '../outage.ts';

interface ServerIndex {
  readonly name: string;
  readonly create: string;
  /** The index of the tables that it makes superfluous. */
  readonly replaces: string;
}

/**
 * Indexes of large tables on a server. They are no migrations, because those run in a transaction and before
 * anything is answered: these are built while everybody reads and writes.
 *
 * Whoever counts persons by the names of events finds all that it takes in `events_of_name`, a tenth of the table; whoever
 * counts them whatever they did, in `events_of_id`, where the events of an id lie side by side: what is known of an id so
 * far is still in the caches of the processor, however many ids there are.
 * The embedded database reads its table in ranges of blocks, where no index helps, so it has the smaller ones.
 */
const INDEXES: readonly ServerIndex[] = [
  {
    name: 'events_of_name',
    create: `create index concurrently events_of_name on events (project_id, event, timestamp)
      include (distinct_id, person_id)`,
    replaces: 'events_by_name',
  },
  {
    name: 'events_of_id',
    create: `create index concurrently events_of_id on events (project_id, distinct_id, timestamp)
      include (event, person_id)`,
    replaces: 'events_of_distinct_id',
  },
];

/**
 * Any number will do, as long as every process takes the same. Without parameters: what they are sent with keeps the
 * transaction's view of the rows open, for which the build would wait.
 */
const TAKE_LOCK = 'select pg_try_advisory_xact_lock(4201968) as ours';

/**
 * Builds what is missing. Of several processes one does: to the others it is false, as it may take minutes. One that
 * was interrupted left an index that is not valid, which is built again.
 */
export async function buildServerIndexes(
  db: Db,
  indexes: readonly ServerIndex[] = INDEXES,
): Promise<boolean> {
  if (db.kind !== 'postgres') return true;
  return db.transaction(async (lock) => {
    // Only the lock is held here. Between its statements a transaction sees no rows, so that nobody waits for it.
    await lock.query('set local idle_in_transaction_session_timeout = 0');
    const [taken] = await lock.query<{ ours: boolean }>(TAKE_LOCK);
    if (taken?.ours !== true) return false;
    for (const { name, create, replaces } of indexes) {
      const [found] = await db.query<{ valid: boolean }>(
        'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
        [name],
      );
      if (found?.valid !== true) {
        if (found !== undefined) await db.query(`drop index concurrently if exists ${name}`, [], UNLIMITED);
        await db.query(create, [], UNLIMITED);
      }
      await db.query(`drop index concurrently if exists ${replaces}`, [], UNLIMITED);
    }
    return true;
  }, 'upkeep');
}

const UNLIMITED = { unlimited: true } as const;

export interface IndexBuilding {
  /** Ends a build that is under way: the next start begins it again. */
  close(): Promise<void>;
}

const TRY_AGAIN_MS = 10_000;

/** Builds what is missing in the background, as soon as the database is ready. */
export function startIndexBuilding(db: Db, log: Logger, tryAgainMs = TRY_AGAIN_MS): IndexBuilding {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let building: Promise<void> | undefined;
  const again = () => {
    if (!closed) timer = setTimeout(begin, tryAgainMs).unref();
  };
  function begin(): void {
    building = buildServerIndexes(db)
      .then((done) => {
        if (!done) again();
      })
      .catch((error: unknown) => {
        if (closed) return;
        // The API reports a database that is not ready, or gone, by itself.
        if (isOutage(error)) again();
        else {
          const message =
            'an index could not be built, so that large questions take longer; the next start tries again';
          log.warn({ err: error }, message);
        }
      })
      .finally(() => {
        building = undefined;
      });
  }
  begin();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      if (building === undefined) return;
      const texts = INDEXES.map(({ create }) => create);
      await db
        .query(
          `select pg_cancel_backend(pid) from pg_stat_activity
            where datname = current_database() and state = 'active' and query = any($1::text[])`,
          [texts],
        )
        .catch(() => undefined);
      await building;
    },
  };
}
