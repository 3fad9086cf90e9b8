import type { Db, Queryable } from '../db.ts';
import type { Table } from './list-tables.ts';
import { saveProgress, type TableProgress } from './progress.ts';

/** How much goes into one transaction, as text. */
const STEP_BYTES = 4 * 1024 * 1024;
const MAX_STEP_PAGES = 1024;

/**
 * Copies the pages of a table that are behind `progress`: each step and the note of how far it came are one
 * transaction of the target. Nobody may write to the source. Pages need no index and are read in the order of
 * the disk. Rows go as JSON text, which PostgreSQL writes and reads exactly, digits included.
 */
export async function copyTable(
  source: Db,
  target: Db,
  table: Table,
  progress: TableProgress,
  onRows: (rows: number) => void,
): Promise<void> {
  const pages = await countPages(source, table);
  let { page, rows: copied } = progress;
  let step = 1;
  while (page < pages) {
    const rows = await readPages(source, table, page, page + step);
    page += step;
    copied += rows.length;
    const reached = { page, rows: copied };
    await target.transaction(async (tx) => {
      await writeRows(tx, table, rows);
      await saveProgress(tx, table.name, reached);
    }, 'upkeep');
    onRows(rows.length);
    const bytes = rows.reduce((sum, row) => sum + row.length, 0);
    step = Math.max(
      1,
      Math.min(MAX_STEP_PAGES, step * 2, Math.floor((step * STEP_BYTES) / Math.max(1, bytes))),
    );
  }
}

async function countPages(source: Db, { name }: Table): Promise<number> {
  const [row] = await source.query<{ pages: number }>(
    "select pg_relation_size($1::regclass) / current_setting('block_size')::bigint as pages",
    [name],
  );
  return row?.pages ?? 0;
}

/** Rows as JSON objects. */
async function readPages(source: Db, { name }: Table, from: number, until: number): Promise<string[]> {
  const rows = await source.query<{ row: string }>(
    `select row_to_json(t)::text as row from ${name} t where t.ctid >= $1::tid and t.ctid < $2::tid`,
    [`(${from},0)`, `(${until},0)`],
  );
  return rows.map(({ row }) => row);
}

/** Triggers keep counters that are copied as they are. */
async function writeRows(tx: Queryable, { name, columns }: Table, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  const list = columns.join(', ');
  await tx.query(`alter table ${name} disable trigger user`);
  await tx.query(
    `insert into ${name} (${list}) overriding system value
      select ${list} from json_populate_recordset(null::${name}, $1::json)`,
    [`[${rows.join(',')}]`],
  );
  await tx.query(`alter table ${name} enable trigger user`);
}

/** New rows are numbered after those that were copied. */
export async function continueNumbers(target: Db, { name, identity }: Table): Promise<void> {
  if (identity === undefined) return;
  await target.query(
    `select setval(pg_get_serial_sequence($1, $2), greatest(1, max(${identity})), max(${identity}) is not null)
      from ${name}`,
    [name, identity.replaceAll('"', '')],
  );
}
