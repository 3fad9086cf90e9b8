import { ConfigError } from '../../../lib/errors.ts';
import type { Queryable } from '../db.ts';

/** How far a table was copied. */
export interface TableProgress {
  /** The first page of the source that is not copied. */
  readonly page: number;
  readonly rows: number;
}

export const NOTHING_COPIED: TableProgress = { page: 0, rows: 0 };

/** In the target: what was copied of which source. It goes when the move is complete. */
export async function createProgress(tx: Queryable, source: string): Promise<void> {
  await tx.query(
    'create table database_move (source text not null, table_name text primary key, page bigint not null, row_count bigint not null)',
  );
  await tx.query("insert into database_move values ($1, '', 0, 0)", [source]);
}

export interface Progress {
  /** Which database is being moved. */
  readonly source: string;
  readonly tables: ReadonlyMap<string, TableProgress>;
}

/** Undefined where no move is under way. */
export async function loadProgress(db: Queryable): Promise<Progress | undefined> {
  const [found] = await db.query<{ exists: boolean }>(
    "select to_regclass('database_move') is not null as exists",
  );
  if (!found?.exists) return undefined;
  const rows = await db.query<{ source: string; name: string } & TableProgress>(
    'select source, table_name as name, page, row_count as rows from database_move',
  );
  return {
    source: rows[0]?.source ?? '',
    tables: new Map(rows.map(({ name, page, rows: copied }) => [name, { page, rows: copied }])),
  };
}

/** Throws ConfigError for a database that a move has not filled, or whose comparison failed: its data is not whole. */
export async function refuseHalfMoved(db: Queryable): Promise<void> {
  if ((await loadProgress(db)) === undefined) return;
  throw new ConfigError(
    'A move to this database did not finish, so its data is not whole: repeat "backhaul database move" until it ends without an error, or point DATABASE_URL at an empty database.',
  );
}

export async function saveProgress(
  tx: Queryable,
  table: string,
  { page, rows }: TableProgress,
): Promise<void> {
  await tx.query(
    `insert into database_move (source, table_name, page, row_count)
      select source, $1, $2::bigint, $3::bigint from database_move where table_name = ''
      on conflict (table_name) do update set page = excluded.page, row_count = excluded.row_count`,
    [table, page, rows],
  );
}

export const removeProgress = (tx: Queryable): Promise<unknown> => tx.query('drop table database_move');
