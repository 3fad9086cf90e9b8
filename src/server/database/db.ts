/**
 * The only interface to Postgres: a connection pool to a server (pool.ts) or the embedded PGlite
 * (pglite.ts), with one SQL dialect. Both return equal values (types.ts). Rooms run `sql` fragments (sql.ts).
 */
/** Bytes are a value in PostgreSQL's binary format (binary-array.ts); a statement takes them over. */
export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly (string | null)[]
  | readonly number[]
  | Uint8Array;

export type Row = Readonly<Record<string, unknown>>;

export interface StatementOptions {
  /**
   * Keeps the statement parsed and planned in its connection. Only for one that runs all the time, whose text
   * is one of few, and whose best plan is the same for every size of the tables: a kept plan may have been made
   * when they were empty.
   *
   * @default false
   */
  readonly prepared?: boolean;
  /**
   * However long it takes: for upkeep that cannot be in a transaction. On a server.
   *
   * @default false
   */
  readonly unlimited?: boolean;
  /**
   * Saves a transaction on a server a round trip. With `begin`: the statement is sent before `begin` is answered, so
   * it runs even where `begin` fails and has to be one that by itself changes nothing. With `commit`: the commit
   * follows at once, so it has to be the last statement, when nothing can be wrong any more but the statement. Where no
   * answer comes to that one, it may be committed all the same.
   *
   * @default sent when the statement before it has been answered
   */
  readonly sendWith?: 'begin' | 'commit';
}

export interface Queryable {
  /** Runs one statement. The caller asserts the shape `R` of the rows; the tests verify it. */
  query<R = Row>(text: string, params?: readonly SqlValue[], options?: StatementOptions): Promise<R[]>;
}

/** The same, with every statement prepared. */
export const prepareAll = (db: Queryable): Queryable => ({
  query: (text, params, options) => db.query(text, params, { ...options, prepared: true }),
});

/**
 * What a transaction is for. A `request` changes or looks up little. A `question` reads much: on the embedded
 * database it lets requests go first, and it should be asked in several short transactions. `upkeep` takes as
 * long as it needs.
 */
export type Use = 'request' | 'question' | 'upkeep';

export interface Db extends Queryable {
  readonly kind: 'pglite' | 'postgres';
  /**
   * Commits when `run` resolves, rolls back when it throws. `run` may be called again when the server
   * asks for a retry, and must use `tx` only: the embedded database has one connection, and
   * a statement outside the transaction would wait for it for ever.
   *
   * @default use 'request'
   */
  transaction<T>(run: (tx: Queryable) => Promise<T>, use?: Use): Promise<T>;
  /**
   * A counter that grows before each statement that may change one of these tables. What was asked for after
   * the counter was read is still so while it is unchanged. Undefined where other processes write as well.
   */
  watch(tables: readonly string[]): (() => number) | undefined;
  close(): Promise<void>;
}

/** The five-character SQLSTATE of an error that Postgres raised; undefined for any other error. */
export function getSqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code } = error;
  // `EPIPE` is five letters too; every SQLSTATE class but the extensions' begins with a digit.
  return typeof code === 'string' && /^(?:[0-9]|P0|XX|HV|F0)[0-9A-Z]+$/.test(code) && code.length === 5
    ? code
    : undefined;
}
