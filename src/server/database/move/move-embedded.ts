import type { Logger } from 'pino';
import { getMessage, UnavailableError } from '../../../lib/errors.ts';
import { explainFailure } from '../explain-failure.ts';
import { isOutage } from '../outage.ts';
import { createSerialDb } from '../pglite.ts';
import { openPgliteSession } from '../pglite-session.ts';
import { createPoolDb } from '../pool.ts';
import { type MovedTable, type MoveOptions, moveDatabase } from './move-database.ts';

export interface EmbeddedMove extends MoveOptions {
  /** Of the embedded database, which no other process has open. */
  readonly folder: string;
  /** Of a PostgreSQL server. */
  readonly databaseUrl: string;
  readonly log: Logger;
}

/**
 * Copies an embedded database to a server. Throws UnavailableError where the server went away: the same call
 * continues the move.
 */
export async function moveEmbedded({
  folder,
  databaseUrl,
  log,
  ...options
}: EmbeddedMove): Promise<MovedTable[]> {
  const source = createSerialDb(() => openPgliteSession(folder));
  const target = createPoolDb(databaseUrl, log);
  try {
    return await moveDatabase(source, target, options);
  } catch (error) {
    const reason = explainFailure(databaseUrl, error);
    throw isOutage(error) ? new UnavailableError(getMessage(reason), 'backoff', error) : reason;
  } finally {
    await source.close();
    await target.close();
  }
}
