import { ConfigError } from '../../../lib/errors.ts';
import type { Db, Queryable } from '../db.ts';
import { migrate } from '../migrate.ts';
import { continueNumbers, copyTable } from './copy-table.ts';
import { identifyDatabase } from './identity.ts';
import { listTables, type Table } from './list-tables.ts';
import { createProgress, loadProgress, NOTHING_COPIED, removeProgress } from './progress.ts';

export interface MovedTable {
  readonly name: string;
  readonly rows: number;
}

export interface MoveOptions {
  /** Called after each step: rows copied by now, and in all. */
  readonly onProgress?: (copied: number, total: number) => void;
  /** Ends the move after a step; the same call continues it. */
  readonly signal?: AbortSignal;
  /** Called before the first row is copied, and not where a move continues. May throw. */
  readonly onBegin?: () => void;
  /** Called once all has arrived, before a server may start on the target; again where a move was killed there. */
  readonly onArrived?: (id: string) => void;
}

/**
 * Copies everything from one database to another, empty one, and compares rows and contents of every table.
 * Interrupted, it continues after the last step when called again. Nobody may write to either meanwhile.
 * Throws ConfigError where the target has data of its own, or both differ in the end.
 */
export async function moveDatabase(source: Db, target: Db, options: MoveOptions = {}): Promise<MovedTable[]> {
  await migrate(source);
  await migrate(target);
  const tables = await listTables(source);
  await begin(target, tables, await identify(source), options);
  const progress = await loadProgress(target);
  const counts = new Map<string, number>();
  for (const { name } of tables) counts.set(name, await countRows(source, name));
  const total = [...counts.values()].reduce((sum, rows) => sum + rows, 0);
  let copied = [...(progress?.tables.values() ?? [])].reduce((sum, { rows }) => sum + rows, 0);
  for (const table of tables) {
    const from = progress?.tables.get(table.name) ?? NOTHING_COPIED;
    await copyTable(source, target, table, from, (rows) => {
      copied += rows;
      options.onProgress?.(copied, total);
      options.signal?.throwIfAborted();
    });
    await continueNumbers(target, table);
  }
  await compare(source, target, tables);
  options.onArrived?.((await identifyDatabase(source)).id);
  await removeProgress(target);
  await target.query('analyze');
  return tables.map(({ name }) => ({ name, rows: counts.get(name) ?? 0 }));
}

/** Makes the target ready for a first row, once. Throws ConfigError, and what `onBegin` does. */
async function begin(
  target: Db,
  tables: readonly Table[],
  source: string,
  { onBegin }: Pick<MoveOptions, 'onBegin'>,
): Promise<void> {
  await target.transaction(async (tx) => {
    const progress = await loadProgress(tx);
    if (progress !== undefined) {
      if (progress.source === source) return;
      throw new ConfigError(
        'Another database is being moved to that server. Finish that move, or name an empty database.',
      );
    }
    for (const name of ['projects', 'events', 'persons']) {
      if ((await countRows(tx, name)) === 0) continue;
      throw new ConfigError(
        `The database has ${name} of its own, and two databases cannot be joined. Name an empty one, for example after: create database backhaul`,
      );
    }
    onBegin?.();
    // What the tables are made with: the first organisation and its owner, who have other ids in the source.
    for (const { name } of [...tables].reverse()) await tx.query(`delete from ${name}`);
    await createProgress(tx, source);
  }, 'upkeep');
}

/** Tells one database from another by its organisations and projects, which have random ids. */
async function identify(source: Db): Promise<string> {
  const [row] = await source.query<{ id: string }>(
    `select md5(string_agg(id, ',' order by id)) as id
      from (select id::text from organizations union all select uuid::text from projects) as ids`,
  );
  return row?.id ?? '';
}

async function countRows(db: Queryable, name: string): Promise<number> {
  const [row] = await db.query<{ rows: number }>(`select count(*) as rows from ${name}`);
  return row?.rows ?? 0;
}

interface Digest {
  readonly rows: number;
  /** Sum of the hashes of all rows, as text. */
  readonly sum: string;
}

async function compare(source: Db, target: Db, tables: readonly Table[]): Promise<void> {
  const different: string[] = [];
  for (const table of tables) {
    const [before, after] = [await digest(source, table), await digest(target, table)];
    if (before.rows !== after.rows) different.push(`${table.name}: ${before.rows} rows, ${after.rows} there`);
    else if (before.sum !== after.sum) different.push(`${table.name}: other contents`);
  }
  if (different.length === 0) return;
  throw new ConfigError(
    `The databases differ after the move (${different.join('; ')}): the source was changed meanwhile, or the target. ` +
      'The target lacks what is only in the source, and no server starts on it. The source is as it was. Stop everything that uses either, save what somebody wrote to the target meanwhile, which would be lost, make it empty, and move again.',
  );
}

/** Over the text of each row, which must not depend on the zone or the formats of a session. */
async function digest(db: Db, { name, columns }: Table): Promise<Digest> {
  return db.transaction(async (tx) => {
    await tx.query("select set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true)");
    const [row] = await tx.query<Digest>(
      `select count(*) as rows, coalesce(sum(hashtextextended(row_to_json(t)::text, 0)::numeric), 0)::text as sum
        from (select ${columns.join(', ')} from ${name}) t`,
    );
    return row ?? { rows: 0, sum: '0' };
  }, 'upkeep');
}
