import { parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import { tooManyRejects } from '../../../config/manifest/manifest.ts';
import { SourceError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Control, loadControlAt } from '../../state/control.ts';
import { loadDocument } from '../../state/document.ts';
import { loadEpoch } from '../../state/epochs.ts';
import { layout } from '../../state/keys/migration.ts';
import { scheduleLayout } from '../../state/keys/schedule.ts';
import { listMigrations, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { addAttempt, beginNotices, listAttempts } from '../../state/notices/notices.ts';
import { findNewestNumber } from '../../state/numbered.ts';
import { loadRun } from '../../state/schedules/runs.ts';
import { listScheduled } from '../../state/schedules/schedules.ts';
import type { MigrationStore, Webhook } from '../migration-runtime.ts';
import { report } from '../report/report.ts';
import { type Message, type StateFacts, toRunMessage, toStateMessage } from './message.ts';
import { postMessage } from './post-message.ts';
import { decideAttempt, MAX_ATTEMPTS } from './retries.ts';
import { signMessage } from './sign.ts';

export type TellingStore = Pick<MigrationStore, 'staging' | 'now' | 'askRedis'> & { readonly log: Logger };

export interface Teller {
  /** Sends the messages of one migration that have not arrived yet. */
  tellMigration(name: string, signal: AbortSignal): Promise<void>;
  /** Sends those of all migrations and schedules. */
  tellAll(signal: AbortSignal): Promise<void>;
}

/** Newer ones say where the migration is. */
const LAST_LOOKED_AT = 20;
/** Longer than an attempt takes. */
const CLAIM_MS = 60_000;

/** What is told, or is not, and where its attempts are kept. */
interface Item {
  readonly folder: string;
  readonly number: number;
  /** ISO 8601; undefined where it is gone. */
  readonly loadAt: () => Promise<string | undefined>;
  readonly loadMessage: () => Promise<Message | undefined>;
}

/**
 * Tells the webhook of states and runs that are in staging already, so that whatever is killed, another process finds
 * what is open. Each is told at least once; who gets it twice knows it by its id.
 */
export function createTeller(store: TellingStore, webhook: Webhook): Teller {
  const { staging, now, askRedis, log } = store;
  /** Folder and number of what needs no more looks. */
  const settled = new Set<string>();

  async function tellItems(items: readonly Item[], signal: AbortSignal): Promise<void> {
    const open = items.filter((item) => !settled.has(toId(item)));
    const [first] = open;
    if (first === undefined) return;
    const sinceMs = await beginNotices(staging, now().toISOString());
    const attempts = await listAttempts(staging, first.folder);
    for (const item of open) {
      if (signal.aborted) return;
      const made = attempts.get(item.number);
      const last = await made?.load();
      const at = await item.loadAt();
      const times = { atMs: Date.parse(at ?? ''), sinceMs };
      const { kind } = decideAttempt(times, { count: made?.count ?? 0, last }, now().getTime());
      const attempt = (made?.count ?? 0) + 1;
      if (kind === 'none') settled.add(toId(item));
      if (kind === 'expire') await note(item, attempt, { outcome: 'expired', reason: '' });
      if (kind === 'send') await send(item, attempt, signal);
    }
  }

  async function send(item: Item, attempt: number, signal: AbortSignal): Promise<void> {
    const message = await item.loadMessage();
    if (message === undefined) {
      settled.add(toId(item));
      return;
    }
    if (!(await isClaimed(`${message.id}:${attempt}`))) return;
    const signed = signMessage(message, { secret: webhook.secret, now: now() });
    const posted = await postMessage(signed, { ...webhook, signal });
    if (signal.aborted && posted.kind === 'failed') return; // it is open still
    const reason = posted.kind === 'failed' ? posted.reason : '';
    await note(item, attempt, { outcome: posted.kind, reason });
    if (posted.kind === 'delivered') return;
    log.warn({ notice: message.id, attempt, of: MAX_ATTEMPTS, reason }, 'the webhook could not be told');
  }

  const note = async (
    { folder, number }: Item,
    attempt: number,
    value: { readonly outcome: 'delivered' | 'failed' | 'expired'; readonly reason: string },
  ): Promise<void> => {
    const at = now().toISOString();
    await addAttempt(staging, folder, { number: { notice: number, attempt }, attempt: { at, ...value } });
  };

  /** Of several processes one tells it; without Redis each does, with the same id. */
  const isClaimed = (id: string): Promise<boolean> =>
    askRedis((redis) => redis.set(`{bh}:notice:${id}`, '1', 'PX', CLAIM_MS, 'NX')).then(
      (claimed) => claimed !== null,
      () => true,
    );

  const tellMigration = async (name: string, signal: AbortSignal): Promise<void> => {
    const newest = await findNewestNumber(staging, layout(name).controls);
    await tellItems(
      listLast(newest).map((number) => toStateItem(store, name, number)),
      signal,
    );
  };
  const tellSchedule = async (name: string, signal: AbortSignal): Promise<void> => {
    const newest = await findNewestNumber(staging, scheduleLayout(name).runs);
    await tellItems(
      listLast(newest).map((number) => toRunItem(store, name, number)),
      signal,
    );
  };

  return {
    tellMigration,
    async tellAll(signal) {
      await beginNotices(staging, now().toISOString());
      const tell = async (name: string, one: typeof tellMigration) => {
        // One that is damaged keeps no other from being told of.
        await one(name, signal).catch((error: unknown) => {
          if (!(error instanceof SourceError)) throw error;
        });
      };
      for (const name of await listMigrations(staging)) await tell(name, tellMigration);
      for (const name of await listScheduled(staging)) await tell(name, tellSchedule);
    },
  };
}

const toId = ({ folder, number }: Item): string => `${folder}${number}`;

const listLast = (newest: number): number[] =>
  Array.from({ length: Math.min(newest, LAST_LOOKED_AT) }, (_, back) => newest - back).reverse();

function toStateItem({ staging }: TellingStore, name: string, number: number): Item {
  const keys = layout(name);
  const load = async () => {
    const found = await loadControlAt(staging, name, number);
    return found === 'of_another' ? undefined : found;
  };
  return {
    folder: keys.notices,
    number,
    loadAt: async () => (await load())?.at,
    async loadMessage() {
      const record = await loadMigration(staging, name);
      const state = await load();
      if (!record || !state) return undefined;
      const { id: migrationId, destination } = record;
      const end = await loadEnd(staging, record, state);
      return toStateMessage({ migration: name, migrationId, destination, number, control: state, ...end });
    },
  };
}

/** What the report of a state's epoch says; a later epoch removes it. */
async function loadEnd(
  staging: TellingStore['staging'],
  { name, id }: Pick<MigrationRecord, 'name' | 'id'>,
  { state, epoch }: Control,
): Promise<Pick<StateFacts, 'report' | 'tooManyRejects'>> {
  const nothing = { report: undefined, tooManyRejects: false };
  if (epoch === undefined || (state !== 'finished' && state !== 'stopped')) return nothing;
  const keys = layout(name);
  const found =
    (await loadDocument(report, keys.report(epoch, id), staging)) ??
    (await loadDocument(report, keys.report(epoch), staging));
  if (!found) return nothing;
  const { counts, balanced, unfinished } = found;
  const opened = await loadEpoch(staging, { name, id }, epoch);
  const { failAbove } = parseStoredManifest(opened?.manifest, staging.location).rejects;
  return {
    report: { counts, isFailed: !balanced || unfinished.failures.length > 0 },
    tooManyRejects: tooManyRejects(failAbove, counts),
  };
}

function toRunItem({ staging }: TellingStore, name: string, number: number): Item {
  return {
    folder: scheduleLayout(name).notices,
    number,
    loadAt: async () => (await loadRun(staging, name, number))?.endedAt,
    async loadMessage() {
      const run = await loadRun(staging, name, number);
      return run && toRunMessage(name, number, run);
    },
  };
}
