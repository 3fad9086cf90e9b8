import type { Logger } from 'pino';
import { waitFor } from '../../lib/async/abort.ts';
import { withTimeout } from '../../lib/async/timeout.ts';
import { UnavailableError } from '../../lib/errors.ts';
import type { Db } from './db.ts';
import { describeOutage, isOutage } from './outage.ts';

const TRY_AGAIN_MS = 1000;
/** How long the start waits for the tables; large ones take longer when an index is added. */
const PREPARED_WITHIN_MS = 30_000;

export interface OpenDatabaseOptions {
  readonly db: Db;
  /** Makes the tables and the rows that they need. Repeated when an outage ends it. */
  readonly prepare: (db: Db) => Promise<void>;
  /** Turns an error into one for the operator. */
  readonly explain: (error: unknown) => unknown;
  readonly log: Logger;
  /** @default 1000 */
  readonly tryAgainMs?: number;
  /** @default 30000 */
  readonly preparedWithinMs?: number;
}

export interface OpenedDatabase {
  /** Refuses every statement with an UnavailableError until it is prepared. */
  readonly db: Db;
  /** Why it is not prepared yet; undefined when it is. */
  readonly waitingFor: string | undefined;
  close(): Promise<void>;
}

/**
 * Opens a database that may be away for now: then it is prepared in the background, as soon as it is there.
 * Throws what is no outage, such as a wrong password, when the first attempt meets it.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const {
    db,
    prepare,
    explain,
    log,
    tryAgainMs = TRY_AGAIN_MS,
    preparedWithinMs = PREPARED_WITHIN_MS,
  } = options;
  const closing = new AbortController();
  let prepared = false;

  const describe = (error: unknown) => describeOutage(explain(error));

  /** Why it failed; undefined when it did not. */
  async function attempt(): Promise<{ readonly error: unknown } | undefined> {
    try {
      await prepare(db);
      prepared = true;
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async function keepTrying(failed: { readonly error: unknown } | undefined): Promise<void> {
    let reason: string | undefined;
    for (let last = failed; last !== undefined; last = await attempt()) {
      const news = describe(last.error);
      if (news !== reason) log.warn({ reason: news }, 'the database is not ready: requests get a 503');
      reason = news;
      const more = await waitFor(tryAgainMs, closing.signal).then(
        () => true,
        () => false,
      );
      if (!more) return;
    }
    log.info('the database is ready');
  }

  const first = attempt();
  const early = await withTimeout(first, preparedWithinMs, () => new Error('slow')).catch(
    () => 'slow' as const,
  );
  if (early !== undefined && early !== 'slow' && !isOutage(early.error)) {
    await db.close();
    throw explain(early.error);
  }
  const preparing = early === undefined ? Promise.resolve() : first.then(keepTrying);
  const waitingFor = early === 'slow' ? 'its tables are being brought to this version' : early;

  const refused = () =>
    Promise.reject(new UnavailableError('The database is not ready yet. The log says what it waits for.'));
  return {
    db: {
      kind: db.kind,
      query: (text, params, options) => (prepared ? db.query(text, params, options) : refused()),
      transaction: (run, use) => (prepared ? db.transaction(run, use) : refused()),
      watch: (tables) => db.watch(tables),
      close: () => db.close(),
    },
    waitingFor: typeof waitingFor === 'object' ? describe(waitingFor.error) : waitingFor,
    async close() {
      closing.abort();
      await preparing;
      await db.close();
    },
  };
}
