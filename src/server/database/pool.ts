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
 * How long a statement may go without an answer. A host that disappears, as in a failover, closes no
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
    const tx = createQueryable(client, within(use), findName);
    let broken: unknown;
    try {
      await tx.query(BEGIN); // two statements at once: allowed without parameters
      const result = await run(tx);
      await tx.query('commit');
      return result;
    } catch (error) {
      // A connection that an outage was seen on is of no use, even when it is still open: it may lead to a
      // server that is read-only for good. Closing it rolls back as well.
      if (isOutage(error)) broken = error;
      else {
        await tx.query('rollback').catch((cause: unknown) => {
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

function createQueryable(
  client: pg.Pool | pg.PoolClient,
  answerWithinMs: number,
  findName: (text: string) => string | undefined,
): Queryable {
  return {
    async query<R>(text: string, params: readonly SqlValue[] = [], options: StatementOptions = {}) {
      const withinMs = options.unlimited === true ? 0 : answerWithinMs;
      const statement = { text, values: [...params], query_timeout: withinMs };
      const name = options.prepared === true ? findName(text) : undefined;
      return (await client.query(name === undefined ? statement : { ...statement, name })).rows as R[];
    },
  };
}
