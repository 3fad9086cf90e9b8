import type { Logger } from 'pino';
import type { Db } from './db.ts';

/** From here on questions over all events take many seconds on the embedded database. */
const LARGE_BYTES = 2 * 1024 ** 3;
const LOOK_EVERY_MS = 3_600_000;

/** What moves an embedded database to a server. */
export const HOW_TO_MOVE =
  'move it to a PostgreSQL server with `backhaul database move --to postgres://…`, then set DATABASE_URL=postgres://…';

export interface SizeWatch {
  close(): void;
}

/**
 * Says in the log, now and every hour, when an embedded database has become too large to be quick.
 *
 * @default largeBytes 2 GiB
 */
export function watchSize(db: Db, log: Logger, largeBytes: number = LARGE_BYTES): SizeWatch {
  if (db.kind !== 'pglite') return { close: () => {} };
  const look = async () => {
    const [row] = await db.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
    const bytes = row?.bytes ?? 0;
    if (bytes <= largeBytes) return;
    log.warn(
      { bytes },
      `the embedded database holds ${(bytes / 1024 ** 3).toFixed(1)} GiB, and questions about it become slow: ${HOW_TO_MOVE}`,
    );
  };
  // The API reports a database that is not ready, or gone, by itself.
  const start = () => void look().catch(() => undefined);
  start();
  const timer = setInterval(start, LOOK_EVERY_MS).unref();
  return { close: () => clearInterval(timer) };
}
