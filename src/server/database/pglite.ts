import type { Db, Queryable, Row, SqlValue, StatementOptions, Use } from './db.ts';
import { openPgliteSession, type PgliteSession } from './pglite-session.ts';
import { startPgliteThread } from './pglite-thread.ts';
import { createTurns } from './turns.ts';
import { createWatches } from './watches.ts';

/**
 * PGlite is a single process without Postgres' background workers, whose work is done here whenever this
 * much was written. Without a checkpoint the WAL, and the recovery after a kill, grows with everything
 * ever written; without statistics the planner guesses. They take a second, and are renewed when the
 * amount written has doubled.
 */
const MAINTENANCE_BYTES = 64 * 1024 * 1024;

/**
 * The embedded database: one connection, transactions one after another, reopened when it breaks. Questions
 * let everything else go first.
 */
export function createPgliteDb(dataDir: string | undefined): Db {
  return createSerialDb(() => {
    // A worker thread needs compiled code. Run straight from TypeScript, as under the test runner, the
    // engine shares the caller's thread; in memory it is for tests anyway.
    const compiled = import.meta.url.endsWith('.js');
    return dataDir !== undefined && compiled ? startPgliteThread(dataDir) : openPgliteSession(dataDir);
  });
}

export function createSerialDb(open: () => Promise<PgliteSession>): Db {
  let session: PgliteSession | undefined;
  const runInTurn = createTurns();
  const watches = createWatches();
  let writtenBytes = 0;
  let nextAnalyse = 1;
  let maintenanceRuns = 0;
  let closed = false;

  /** Runs `work` when its turn comes. */
  function runNext<T>(use: Use, work: (session: PgliteSession) => Promise<T>): Promise<T> {
    return runInTurn(use === 'question' ? 'last' : 'first', async () => {
      if (closed) throw new Error('the database is closed');
      if (session?.lost) {
        await session.close().catch(() => undefined); // it is broken; only its thread matters
        session = undefined;
      }
      session ??= await open();
      return work(session);
    });
  }

  async function runMaintenance(current: PgliteSession): Promise<void> {
    if (writtenBytes < MAINTENANCE_BYTES) return;
    writtenBytes = 0;
    await current.query('checkpoint', []);
    maintenanceRuns += 1;
    if (maintenanceRuns < nextAnalyse) return;
    nextAnalyse = maintenanceRuns * 2;
    await current.query('analyze', []);
  }

  function createQueryable(current: PgliteSession): Queryable {
    return {
      async query<R>(text: string, params: readonly SqlValue[] = [], options?: StatementOptions) {
        for (const param of params) {
          if (typeof param === 'string' || param instanceof Uint8Array) writtenBytes += param.length;
        }
        watches.note(text);
        return (await current.query(text, params, options)) as Row[] as R[];
      },
    };
  }

  return {
    kind: 'pglite',
    query: (text, params, options) =>
      runNext('request', (current) => createQueryable(current).query(text, params, options)),
    transaction: (run, use = 'request') =>
      runNext(use, async (current) => {
        await current.query('begin', [], { prepared: true });
        try {
          const result = await run(createQueryable(current));
          await current.query('commit', [], { prepared: true });
          // The transaction is committed: a fault of the maintenance surfaces in the next one.
          await runMaintenance(current).catch(() => undefined);
          return result;
        } catch (error) {
          if (!current.lost) await current.query('rollback', []);
          throw error;
        }
      }),
    watch: watches.watch,
    async close() {
      await runNext('request', async () => {
        closed = true;
      }).catch(() => undefined);
      await session?.close();
    },
  };
}
