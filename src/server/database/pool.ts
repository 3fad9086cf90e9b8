import pg from 'pg';
import type { Logger } from 'pino';
import type { Db, Queryable, SqlValue } from './db.ts';
import { getSqlState } from './db.ts';
import { VALUE_PARSERS } from './types.ts';

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ATTEMPTS = 4;
/** Serialisation failure and deadlock: Postgres rolled the transaction back, and it can be retried. */
const RETRY_STATES = new Set(['40001', '40P01']);

/** Connections to a PostgreSQL server. Nothing is opened until the first statement. */
export function createPoolDb(databaseUrl: string, log: Logger): Db {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        VALUE_PARSERS[oid] ?? pg.types.getTypeParser(oid, format),
    },
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'database connection lost'));

  async function attempt<T>(run: (tx: Queryable) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await run(createQueryable(client));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch((cause: Error) => {
        broken = cause;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  return {
    kind: 'postgres',
    ...createQueryable(pool),
    async transaction(run) {
      for (let round = 1; ; round++) {
        try {
          return await attempt(run);
        } catch (error) {
          const state = getSqlState(error);
          if (state === undefined || !RETRY_STATES.has(state) || round === MAX_ATTEMPTS) throw error;
          log.debug({ state, round }, 'transaction retried');
        }
      }
    },
    close: () => pool.end(),
  };
}

function createQueryable(client: pg.Pool | pg.PoolClient): Queryable {
  return {
    async query<R>(text: string, params: readonly SqlValue[] = []) {
      return (await client.query(text, [...params])).rows as R[];
    },
  };
}
