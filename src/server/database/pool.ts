import pg from 'pg';
import type { Logger } from 'pino';
import type { Db, Queryable, SqlValue, StatementOptions, Use } from './db.ts';
import { getSqlState } from './db.ts';
import { isOutage } from './outage.ts';
import { VALUE_PARSERS } from './types.ts';

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ATTEMPTS = 4;
/** Serialisation failure and deadlock: Postgres rolled the transaction back, and it can be retried. */
const RETRY_STATES = new Set(['40001', '40P01']);
/**
 * A prepared statement is missing or there already: a pooler in front of the server gives each transaction
 * another connection. Then none is prepared any more.
 */
const UNPREPARED_STATES = new Set(['26000', '42P05']);
/**
 * How long a statement may go without an answer, from when it is sent: what is sent with `begin` or with `commit` waits
 * for the statements in front of it as well. A host that disappears, as in a failover, closes no
 * connection: without a bound a statement waits until the kernel gives up, which takes a quarter of an hour.
 */
const ANSWER_WITHIN_MS = { request: 60_000, question: 300_000, upkeep: 0 } satisfies Record<Use, number>;
/**
 * Of a server, database or role that answers a commit before it is written, whose crash would take with it what was
 * accepted. Stricter settings stay, such as those for standbys.
 */
const toDurable = (isLocal: boolean) =>
  `select set_config('synchronous_commit', 'on', ${isLocal}) where current_setting('synchronous_commit') = 'off'`;
/**
 * What role, database or server may have set otherwise: how times and numbers are written, in which zone, and limits
 * under which no index of a large table would ever be built; Backhaul has its own. Not every version has all of these
 * limits. On a connection, not at its start, as poolers refuse start-up options that they do not know.
 */
const SESSION = `${toDurable(false)}; set statement_timeout to 0; set lock_timeout to 0;
  select set_config(name, '0', false) from pg_settings where name in ('transaction_timeout', 'idle_session_timeout');
  set datestyle to 'ISO, MDY'; set intervalstyle to postgres; set timezone to 'UTC'; set extra_float_digits to 1;
  set standard_conforming_strings to on`;
/**
 * A server whose client disappears within a transaction must not keep its locks. Retries are counted for this level:
 * above it, requests that come at once fail where they share a person. A pooler may give each transaction a connection
 * that another session has set up.
 */
const BEGIN = `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${ANSWER_WITHIN_MS.request};
  ${toDurable(true)}`;

export interface PoolOptions {
  /** Replaces the bounds on every statement. For tests. */
  readonly answerWithinMs?: number;
}

/** Connections to a PostgreSQL server. Nothing is opened until the first statement. */
export function createPoolDb(databaseUrl: string, log: Logger, options: PoolOptions = {}): Db {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // A statement is sent when it is there, and not when the one before has been answered.
    pipeline: true,
    // It is waited for, whatever the types say: a connection is used once this is done.
    async onConnect(client) {
      const statement = { text: SESSION, query_timeout: CONNECT_TIMEOUT_MS };
      await client.query(statement);
    },
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        VALUE_PARSERS[oid] ?? pg.types.getTypeParser(oid, format),
    },
  });
  // Connections break while they are idle and while they are used. The statement in progress fails, and
  // the connection is replaced; without a listener this event would end the process.
  const onLost = (error: Error) => log.warn({ err: error }, 'database connection lost');
  pool.on('error', onLost);
  const within = (use: Use) => options.answerWithinMs ?? ANSWER_WITHIN_MS[use];
  const names = new Map<string, string>();
  let prepares = true;

  function findName(text: string): string | undefined {
    if (!prepares) return undefined;
    const name = names.get(text) ?? `backhaul_${names.size}`;
    names.set(text, name);
    return name;
  }

  async function attempt<T>(run: (tx: Queryable) => Promise<T>, use: Use): Promise<T> {
    const client = await pool.connect();
    client.on('error', onLost);
    const connection = createQueryable(client, within(use), findName);
    let broken: unknown;
    try {
      const { tx, commit } = begin(connection);
      const result = await run(tx);
      await commit();
      return result;
    } catch (error) {
      // A connection that an outage was seen on is of no use, even when it is still open: it may lead to a
      // server that is read-only for good. Closing it rolls back as well.
      if (isOutage(error)) broken = error;
      else {
        await connection.query('rollback').catch((cause: unknown) => {
          broken = cause;
        });
      }
      throw error;
    } finally {
      client.off('error', onLost);
      client.release(broken !== undefined);
    }
  }

  return {
    kind: 'postgres',
    ...createQueryable(pool, within('request'), findName),
    async transaction(run, use = 'request') {
      for (let round = 1; ; round++) {
        try {
          return await attempt(run, use);
        } catch (error) {
          const state = getSqlState(error);
          const isUnprepared = state !== undefined && UNPREPARED_STATES.has(state);
          const mayRetry = isUnprepared || (state !== undefined && RETRY_STATES.has(state));
          if (!mayRetry || round === MAX_ATTEMPTS) throw error;
          if (isUnprepared) prepares = false;
          log.debug({ state, round }, 'transaction retried');
        }
      }
    },
    watch: () => undefined,
    close: () => pool.end(),
  };
}

/** Statements of a transaction. What is sent with its begin or its commit does not wait for an answer. */
function begin(connection: Queryable): { readonly tx: Queryable; commit(): Promise<void> } {
  const begun = connection.query(BEGIN); // several statements at once: allowed without parameters
  let committed: Promise<unknown> | undefined;
  const ignore = () => undefined;
  begun.catch(ignore); // whoever waits for it hears of it
  return {
    tx: {
      async query<R>(text: string, params?: readonly SqlValue[], options?: StatementOptions) {
        if (options?.sendWith !== 'begin') await begun;
        const answered = connection.query<R>(text, params, options);
        if (options?.sendWith === 'begin') {
          return answered.catch(async (error: unknown) => {
            await begun; // where that failed, it says why
            throw error;
          });
        }
        if (options?.sendWith === 'commit') {
          // Where the statement fails, this rolls back.
          committed = connection.query('commit');
          committed.catch(ignore);
        }
        return answered;
      },
    },
    async commit() {
      await begun;
      await (committed ?? connection.query('commit'));
    },
  };
}

/**
 * node-postgres makes the same of a plain object, but copies it first by the descriptors of its properties, which takes
 * 15 µs of a single capture.
 */
class Statement extends pg.Query {
  declare readonly text: string;
  declare name: string | undefined;
  declare query_timeout: number;

  constructor(text: string, values: SqlValue[], name: string | undefined, withinMs: number) {
    super(text, values);
    this.name = name;
    this.query_timeout = withinMs;
  }
}

function createQueryable(
  client: pg.Pool | pg.PoolClient,
  answerWithinMs: number,
  findName: (text: string) => string | undefined,
): Queryable {
  return {
    query<R>(text: string, params: readonly SqlValue[] = [], options: StatementOptions = {}) {
      const withinMs = options.unlimited === true ? 0 : answerWithinMs;
      const name = options.prepared === true ? findName(text) : undefined;
      const statement = new Statement(text, [...params], name, withinMs);
      return new Promise<R[]>((resolve, reject) => {
        client.query(statement as pg.QueryConfig, (error: Error | null, result: pg.QueryResult) => {
          if (error === null || error === undefined) return resolve(result.rows as R[]);
          Error.captureStackTrace(error); // of whoever asked, not of the socket
          reject(error);
        });
      });
    },
  };
}
