import type { Db, Queryable } from '../database/db.ts';
import { runSql, type Sql, sql } from '../database/sql.ts';
import { inTime, isTooSlow } from './time-limit.ts';

/** A step should take so long, and must not take longer than the limit. */
const AIM_MS = 250;
export const STEP_LIMIT_MS = 1000;
/** Blocks of 8 kB: how many the first step reads, and the bounds of the later ones. */
const FIRST_BLOCKS = 2000;
const FEWEST_BLOCKS = 16;
const MOST_BLOCKS = 50_000;

/** Blocks of a table, `until` not among them. */
export interface BlockRange {
  readonly from: number;
  readonly until: number;
}

const toTid = (block: number) => `(${block},0)`;

/** Whether rows with that `ctid` are in these blocks. */
export const isWithin = (ctid: Sql, { from, until }: BlockRange): Sql =>
  sql`${ctid} >= ${toTid(from)}::tid and ${ctid} < ${toTid(until)}::tid`;

const CTIDS = { events: sql`e.ctid`, persons: sql`p.ctid` };
type Table = keyof typeof CTIDS;

/** Whether rows of the table, `e` or `p` in the statement, are in these blocks. */
export const selectPlace = (table: Table, range: BlockRange): Sql => isWithin(CTIDS[table], range);

/** @param table its name, with its schema where that is not the usual one */
export async function countBlocks(db: Queryable, table: string): Promise<number> {
  const [row] = await runSql<{ blocks: number }>(
    db,
    sql`select (pg_relation_size(${table}::text::regclass)
      / current_setting('block_size')::bigint)::integer as blocks`,
  );
  return row?.blocks ?? 0;
}

/**
 * Runs a step for one range of blocks after another. A step returns how many milliseconds it took, which
 * decides on the size of the next one; one that takes too long is run again over a part of its range.
 *
 * @default firstBlocks 2000
 */
export async function overBlocks(
  end: number,
  step: (range: BlockRange) => Promise<number>,
  firstBlocks: number = FIRST_BLOCKS,
): Promise<void> {
  let blocks = firstBlocks;
  for (let from = 0; from < end; ) {
    const until = Math.min(from + blocks, end);
    try {
      const ms = await step({ from, until });
      from = until;
      blocks = Math.round(blocks * Math.min(4, AIM_MS / Math.max(ms, 1)));
      blocks = Math.min(Math.max(blocks, FEWEST_BLOCKS), MOST_BLOCKS);
    } catch (error) {
      if (!isTooSlow(error) || until - from <= FEWEST_BLOCKS) throw error;
      blocks = Math.max(FEWEST_BLOCKS, Math.floor((until - from) / 4));
    }
  }
}

export interface BlockReading<R> {
  readonly table: Table;
  /** `place` must be among the conditions on every row, `e` of events or `p` of persons. */
  readonly select: (place: Sql) => Sql;
  readonly take: (rows: R[]) => void;
  /** What all steps together may take; beyond it the reading fails as too slow (time-limit.ts). */
  readonly budgetMs: number;
}

/**
 * Reads a table on the embedded database without holding up others for long: one range of it after another,
 * each in a transaction that lets requests go first.
 */
export async function readInBlocks<R>(
  db: Db,
  { table, select, take, budgetMs }: BlockReading<R>,
): Promise<void> {
  let spentMs = 0;
  const step = async (range: BlockRange) => {
    const limitMs = Math.round(Math.min(STEP_LIMIT_MS, Math.max(0, budgetMs - spentMs)));
    const place = sql`${selectPlace(table, range)} and ${inTime(limitMs)}`;
    return db.transaction(async (tx) => {
      const start = performance.now();
      try {
        take(await runSql<R>(tx, select(place)));
      } finally {
        spentMs += performance.now() - start;
      }
      return performance.now() - start;
    }, 'question');
  };
  await overBlocks(await countBlocks(db, table), step);
}
