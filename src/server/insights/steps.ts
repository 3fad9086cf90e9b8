import type { Db, Queryable, SqlValue } from '../database/db.ts';
import { runSql, type Sql, sql } from '../database/sql.ts';
import { selectDoers } from '../query/compile-behaviour.ts';
import type { BehaviourFilter } from '../query/filter.ts';
import { type BlockRange, countBlocks, isWithin, overBlocks, selectPlace } from '../query/over-blocks.ts';
import { isTooSlow } from '../query/time-limit.ts';
import { type EventScope, planForMuch } from './events-store.ts';
import { tooSlow } from './insight-error.ts';

/**
 * How the statement of an insight is run. At once it is one statement. The embedded database can neither run
 * two statements at a time nor interrupt one, so there a long one is run in steps, and other requests have
 * their turn in between: facts are collected from one piece of the table of events after another, and what
 * follows from the facts of each actor by themselves is derived for some actors at a time. Results are then as
 * of a span of some seconds: an event that arrives meanwhile may be in or not.
 */
export interface Steps {
  /** Whether there are several: then statements over all facts should be few and simple. */
  readonly areSeveral: boolean;
  /** Facts of events; gives what stands behind `from`. `select` reads events with `eventsWhere` of its scope. */
  collect(scope: EventScope, select: (scope: EventScope) => Sql): Promise<Sql>;
  /**
   * The persons who do what these behaviours ask for, where statements should not find out each by itself
   * (`FilterSubject.doers`). `select` counts deeds of persons (`selectDeeds`) in the events that `place` names.
   */
  findDoers(
    behaviours: readonly BehaviourFilter[],
    select: (behaviour: BehaviourFilter, place: Sql) => Sql,
  ): Promise<ReadonlyMap<BehaviourFilter, Sql>>;
  /**
   * What is derived from facts, which have a column `actor`, for each actor apart from the others. `of` gives
   * the facts to derive from. `columns` are the names, types and collations of what is derived where that is much
   * work: then two processes of a server may share it.
   */
  derive(sources: readonly Sql[], select: (of: (source: Sql) => Sql) => Sql, columns?: Sql): Promise<Sql>;
}

export const AT_ONCE: Steps = {
  areSeveral: false,
  findDoers: async () => new Map(),
  collect: async (scope, select) => sql`(${select(scope)})`,
  derive: async (_sources, select) => sql`(${select((source) => source)})`,
};

/** Facts that are derived from at a time. */
const FACTS_A_STEP = 25_000;
const MOST_GROUPS = 1000;
/**
 * The text of statements comes from this source alone, names of tables too. They are used in turn: no kind of
 * insight needs more than six of them at the same time.
 */
const NAMES = [
  sql`insight_1`,
  sql`insight_2`,
  sql`insight_3`,
  sql`insight_4`,
  sql`insight_5`,
  sql`insight_6`,
];
const TABLES = NAMES.map((name) => sql`pg_temp.${name}`);
const COPY = sql`pg_temp.insight_copy`;
/** Of these behaviours the doers are kept to the end; those beyond are found by each statement. */
const DOERS = [
  sql`pg_temp.insight_doers_1`,
  sql`pg_temp.insight_doers_2`,
  sql`pg_temp.insight_doers_3`,
  sql`pg_temp.insight_doers_4`,
];
/** Actors are in one of so many shares; a step derives from some shares. */
const SHARES = 1000;
const SHARE = sql`(abs(hashtext(facts.actor)::bigint) % ${SHARES}::integer)::smallint`;

const RUNS_A_VACUUM = 50;
const VACUUM = [
  sql`vacuum pg_catalog.pg_attribute`,
  sql`vacuum pg_catalog.pg_class`,
  sql`vacuum pg_catalog.pg_depend`,
  sql`vacuum pg_catalog.pg_index`,
  sql`vacuum pg_catalog.pg_statistic`,
  sql`vacuum pg_catalog.pg_type`,
];
let runs = 0;

export interface SteppedRun {
  /** Runs each statement as a step of its own. */
  readonly tx: Queryable;
  readonly steps: Steps;
  close(): Promise<void>;
}

export interface StepSizes {
  /** @default 2000 */
  readonly firstBlocks?: number;
  /** @default 25000 */
  readonly factsAStep?: number;
}

/** One at a time on a database: the names of its tables are fixed. All steps together take up to `budgetMs`. */
export function startSteps(db: Db, budgetMs: number, sizes: StepSizes = {}): SteppedRun {
  const { firstBlocks, factsAStep = FACTS_A_STEP } = sizes;
  let spentMs = 0;
  let tables = 0;
  const counts = new Map<Sql, number>();
  const divided = new Set<Sql>();

  async function step<R>(read: (own: Queryable) => Promise<R[]>): Promise<{ rows: R[]; ms: number }> {
    if (spentMs >= budgetMs) throw tooSlow();
    return db.transaction(async (own) => {
      const start = performance.now();
      try {
        await planForMuch(own, db.kind);
        const rows = await read(own);
        return { rows, ms: performance.now() - start };
      } finally {
        spentMs += performance.now() - start;
      }
    }, 'question');
  }

  const run = <R>(statement: Sql) => step<R>((own) => runSql(own, statement));
  const tx: Queryable = {
    query: async <R>(text: string, params?: readonly SqlValue[]) =>
      (await step<R>((own) => own.query(text, params))).rows,
  };

  async function createTable(rows: Sql): Promise<Sql> {
    const table = TABLES[tables++ % TABLES.length] ?? COPY;
    divided.delete(table);
    await run(sql`drop table if exists ${table}`);
    await run(sql`create temporary table ${table} as ${rows}`);
    return table;
  }

  async function count(table: Sql): Promise<number> {
    const { rows } = await run<{ count: number }>(sql`select count(*) as count from ${table}`);
    return rows[0]?.count ?? 0;
  }

  async function collect(scope: EventScope, select: (scope: EventScope) => Sql): Promise<Sql> {
    const table = await createTable(select({ ...scope, place: sql`false` }));
    await fill(table, (range) => select({ ...scope, place: selectPlace('events', range) }));
    counts.set(table, await count(table));
    return table;
  }

  /** From one piece of the table of events after another. */
  async function fill(table: Sql, select: (range: BlockRange) => Sql): Promise<void> {
    const insert = async (range: BlockRange) => (await run(sql`insert into ${table} ${select(range)}`)).ms;
    await overBlocks(await countBlocks(tx, 'events'), insert, firstBlocks);
  }

  const findDoers: Steps['findDoers'] = async (behaviours, select) => {
    const found = new Map<BehaviourFilter, Sql>();
    for (const [index, table] of DOERS.entries()) {
      const behaviour = behaviours[index];
      if (behaviour === undefined) break;
      const deeds = await createTable(select(behaviour, sql`false`));
      await fill(deeds, (range) => select(behaviour, isWithin(sql`filter_events.ctid`, range)));
      await run(sql`drop table if exists ${table}`);
      await run(sql`create temporary table ${table} as ${selectDoers(behaviour, deeds)}`);
      await run(sql`analyze ${table}`);
      found.set(behaviour, table);
    }
    return found;
  };

  async function derive(sources: readonly Sql[], select: (of: (source: Sql) => Sql) => Sql): Promise<Sql> {
    const facts = Math.max(...sources.map((source) => counts.get(source) ?? 0));
    const fewest = Math.ceil(facts / factsAStep);
    // Outside of what may be tried again, which gives back the name of the last table.
    if (fewest > 1) for (const source of sources) await divide(source);
    for (let groups = fewest; groups > 1; groups *= 4) {
      try {
        return await deriveGroups(groups, select);
      } catch (error) {
        if (!isTooSlow(error) || groups >= MOST_GROUPS) throw error;
        tables -= 1; // the same name again: the facts must keep theirs
      }
    }
    return AT_ONCE.derive(sources, select);
  }

  /** Shares of actors are put into groups of about the same size; those of one group are derived from in one step. */
  async function deriveGroups(groups: number, select: (of: (source: Sql) => Sql) => Sql): Promise<Sql> {
    const selectShares = (from: number, until: number) =>
      select(
        (source) => sql`(select * from ${source} as facts
          where share >= ${from}::smallint and share < ${until}::smallint)`,
      );
    const table = await createTable(selectShares(0, 0));
    for (let group = 0; group < groups; group++) {
      const [from, until] = [group, group + 1].map((each) => Math.floor((each * SHARES) / groups));
      await run(sql`insert into ${table} ${selectShares(from ?? 0, until ?? 0)}`);
    }
    counts.set(table, await count(table));
    return table;
  }

  /**
   * Gives facts a column `share`, by which a step finds its own: every stretch of the table is in its order, so the
   * index names few blocks for a share. Otherwise each step would read all facts, and a history of three times as many
   * would take nine times as long.
   */
  async function divide(table: Sql): Promise<void> {
    if (divided.has(table)) return;
    const selectCopy = (place: Sql) =>
      sql`select facts.*, ${SHARE} as share from ${table} as facts where ${place} order by share`;
    await run(sql`drop table if exists ${COPY}`);
    await run(sql`create temporary table ${COPY} as ${selectCopy(sql`false`)}`);
    const number = TABLES.indexOf(table);
    const end = await countBlocks(tx, `pg_temp.insight_${number + 1}`);
    const copy = async (range: BlockRange) =>
      (await run(sql`insert into ${COPY} ${selectCopy(isWithin(sql`facts.ctid`, range))}`)).ms;
    await overBlocks(end, copy, firstBlocks);
    await run(sql`drop table ${table}`);
    await run(sql`alter table ${COPY} rename to ${NAMES[number] ?? sql`insight_1`}`);
    await run(sql`create index on ${table} using brin (share) with (pages_per_range = 4)`);
    await run(sql`analyze ${table} (share)`);
    divided.add(table);
  }

  return {
    tx,
    steps: { areSeveral: true, collect, findDoers, derive },
    async close() {
      for (const table of tables === 0 ? [] : [...TABLES.slice(0, tables), ...DOERS, COPY]) {
        await db.transaction((own) => runSql(own, sql`drop table if exists ${table}`), 'question');
      }
      runs += 1;
      // Nothing else frees what dropped tables leave in the catalogues: PGlite has no autovacuum.
      if (runs % RUNS_A_VACUUM === 0) for (const statement of VACUUM) await runSql(db, statement);
    },
  };
}
