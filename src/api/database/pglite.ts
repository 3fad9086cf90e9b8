import type { Db, Queryable, Row, SqlValue } from './db.ts';
import { openPgliteSession, type PgliteSession } from './pglite-session.ts';
import { startPgliteThread } from './pglite-thread.ts';

/**
 * PGlite runs as a single process and never takes a checkpoint by itself: without one its WAL grows
 * by the size of everything ever written, and so does the recovery after a kill.
 */
const CHECKPOINT_BYTES = 64 * 1024 * 1024;

/** The embedded database: one connection, transactions one after another, reopened when it breaks. */
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
  let queue: Promise<unknown> = Promise.resolve();
  let unflushedBytes = 0;
  let closed = false;

  /** Runs `work` when everything asked for earlier is over. */
  function inTurn<T>(work: (session: PgliteSession) => Promise<T>): Promise<T> {
    const turn = queue.then(async () => {
      if (closed) throw new Error('the database is closed');
      if (session?.lost) {
        await session.close().catch(() => undefined); // it is broken; only its thread matters
        session = undefined;
      }
      session ??= await open();
      return work(session);
    });
    queue = turn.catch(() => undefined);
    return turn;
  }

  async function checkpoint(current: PgliteSession): Promise<void> {
    if (unflushedBytes < CHECKPOINT_BYTES) return;
    unflushedBytes = 0;
    await current.query('checkpoint', []);
  }

  function speak(current: PgliteSession): Queryable {
    return {
      async query<R>(text: string, params: readonly SqlValue[] = []) {
        for (const param of params) if (typeof param === 'string') unflushedBytes += param.length;
        return (await current.query(text, params)) as Row[] as R[];
      },
    };
  }

  return {
    kind: 'pglite',
    query: (text, params) => inTurn((current) => speak(current).query(text, params)),
    transaction: (run) =>
      inTurn(async (current) => {
        await current.query('begin', []);
        try {
          const result = await run(speak(current));
          await current.query('commit', []);
          await checkpoint(current);
          return result;
        } catch (error) {
          if (!current.lost) await current.query('rollback', []);
          throw error;
        }
      }),
    async close() {
      await inTurn(async () => {
        closed = true;
      }).catch(() => undefined);
      await session?.close();
    },
  };
}
