import { mkdir } from 'node:fs/promises';
import { PGlite, types } from '@electric-sql/pglite';
import type { Row, SqlValue, StatementOptions } from './db.ts';
import { getSqlState } from './db.ts';
import { createPreparedRuns } from './pglite-prepared.ts';
import { VALUE_PARSERS } from './types.ts';

/** One PGlite connection, wherever it runs: statements go in one after another. */
export interface PgliteSession {
  query(text: string, params: readonly SqlValue[], options?: StatementOptions): Promise<Row[]>;
  close(): Promise<void>;
  /** True once the engine has failed; the session must be reopened. */
  readonly lost: boolean;
}

/**
 * By default PostgreSQL takes 160 MB for pages here, all of which is resident. The operating system keeps pages
 * as well, so a smaller number costs little. The log of a large transaction is written in few pieces.
 */
const SETTINGS = ['shared_buffers=48MB', 'wal_buffers=4MB'];

/**
 * Opens PGlite in this thread. `dataDir` undefined keeps everything in memory, where `initial`, a dump of
 * another PGlite, spares the time of making a new cluster.
 *
 * Durability: commits go to WAL files through write(2), which outlives a kill -9 of the process; fsync
 * is off in PGlite, so a power cut may cost the last commits. A migration re-run heals that, as every
 * uuid is stored once.
 */
export async function openPgliteSession(dataDir: string | undefined, initial?: Blob): Promise<PgliteSession> {
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const engine = await PGlite.create({
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(initial === undefined ? {} : { loadDataDir: initial }),
    startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])],
    parsers: { ...VALUE_PARSERS },
    // Text given for JSON is JSON already; the driver would quote it a second time.
    serializers: { [types.JSON]: String, [types.JSONB]: String },
  });
  const runPrepared = createPreparedRuns(engine);
  let lost = false;
  return {
    async query(text, params, options) {
      try {
        if (options?.prepared === true) return await runPrepared(text, params);
        return (await engine.query<Row>(text, [...params])).rows;
      } catch (error) {
        // What Postgres raises carries a SQLSTATE; anything else is the engine itself breaking.
        if (getSqlState(error) === undefined) lost = true;
        throw error;
      }
    },
    close: () => engine.close(),
    get lost() {
      return lost;
    },
  };
}
