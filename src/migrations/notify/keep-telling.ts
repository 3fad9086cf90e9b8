import { settleWithin } from '../../lib/async/timeout.ts';
import { getMessage } from '../../lib/errors.ts';
import { beginNotices } from '../../state/notices/notices.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { createTeller, type TellingStore } from './tell.ts';

const EVERY_MS = 5_000;
/** A run must not wait long for a receiver: whoever comes next tells it. */
const LAST_WITHIN_MS = 5_000;

export interface Telling {
  /** Sends once more what has not arrived yet, for a bounded time. */
  close(): Promise<void>;
}

type KeepingStore = TellingStore & Pick<MigrationStore, 'webhook'>;

const NOBODY: Telling = { close: async () => {} };

/**
 * Tells the webhook, where there is one, of one migration, or of all migrations and schedules. What it is read from and
 * the receiver may be down: nothing of it is thrown, as it must stop nothing.
 */
export async function keepTelling(store: KeepingStore, name?: string, everyMs = EVERY_MS): Promise<Telling> {
  const { webhook, staging, now, log } = store;
  if (!webhook) return NOBODY;
  const teller = createTeller(store, webhook);
  const stop = new AbortController();
  const orLog = (error: unknown) => {
    if (!stop.signal.aborted) log.warn({ err: getMessage(error) }, 'the webhook is told later');
  };
  const tell = async () => {
    if (name !== undefined) await teller.tellMigration(name, stop.signal);
    else if (await isSweeper(store, everyMs)) await teller.tellAll(stop.signal);
  };
  // States that are entered from here on are told.
  await settleWithin(beginNotices(staging, now().toISOString()).catch(orLog), LAST_WITHIN_MS);
  let telling: Promise<unknown> = Promise.resolve();
  let isTelling = false;
  const timer = setInterval(() => {
    if (isTelling) return;
    isTelling = true;
    telling = tell()
      .catch(orLog)
      .finally(() => {
        isTelling = false;
      });
  }, everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      const last = telling.then(name === undefined ? () => {} : tell).catch(orLog);
      await settleWithin(last, name === undefined ? 0 : LAST_WITHIN_MS);
      stop.abort(new Error('closing'));
      await settleWithin(last, 1_000);
    },
  };
}

/** One process at a time looks at all of staging. */
const isSweeper = ({ askRedis }: KeepingStore, everyMs: number): Promise<boolean> =>
  askRedis((redis) => redis.set('{bh}:notices:sweeper', '1', 'PX', Math.ceil(everyMs * 0.9), 'NX')).then(
    (taken) => taken !== null,
    () => true,
  );
