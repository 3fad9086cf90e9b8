import type { Environment } from '../../../config/environment.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { leaseKey, migrationKey, mirrorControl } from '../../state/checkpoints.ts';
import { loadControl } from '../../state/control.ts';
import { encodeDocument } from '../../state/document.ts';
import { ledgerLayout } from '../../state/keys/ledger.ts';
import { isOwnReport, layout, parseRecordKey } from '../../state/keys/migration.ts';
import { toPlacesKey } from '../../state/keys/shared.ts';
import { forgetLedger, type LedgerAccess, listLedgersOf } from '../../state/ledger/ledger.ts';
import { markLedgerMoved } from '../../state/ledger/moved.ts';
import { listMigrations, listSlices, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { keepFoldResult } from '../../state/rejects/fold-result.ts';
import { isScheduled } from '../../state/schedules/schedules.ts';
import { applyEvent, decideStored, RefusedError, requireMigration } from '../life-store.ts';
import { explainRefusal } from '../lifecycle.ts';
import { loadStoredManifest } from '../manifest/stored-manifest.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { whileImporting } from '../move/import-lock.ts';
import { takeLedgerLock } from '../persons/lock/ledger-lock.ts';
import { assertNotReleased, enterFacts, removeFacts } from '../persons/remove-facts.ts';
import { giveUpAttempts } from '../rejects/attempts.ts';
import { explainUnfinishedRemoval } from '../rejects/rejects.ts';
import { findReportKey, loadStoredReport, type Report } from '../report/report.ts';
import { assertCompared } from './assert-compared.ts';
import { assertNoneIsSending, findFamilyLeft, listMarks, removeFingerprints } from './family-left.ts';
import { removeAll } from './remove-all.ts';

export type ResolveLedger = (manifest: Manifest) => LedgerAccess;

export interface RemoveOptions {
  /** Keeps the rejects, so that they can be shown and replayed. */
  readonly keepRejects?: boolean | undefined;
  /**
   * Drops the report and the keyed hashes of the destination's ledger, too. Later migrations to that
   * destination then merge nothing.
   */
  readonly forget?: boolean | undefined;
  /** The ledger of a migration's destination. Throws ConfigError where this process does not know its key. */
  readonly resolveLedger: ResolveLedger;
  /** Where the keys are that mappings hash with. @default none is known */
  readonly env?: Environment;
}

export interface Removed {
  /**
   * Key of the file of places that it pinned. It is kept: another process may be about to begin a migration with the
   * same file, and finds it there before it says so.
   */
  readonly keptPlaces?: string;
  /** Nothing of it stays here: it was exported to another place. */
  readonly isElsewhere?: boolean;
  /** When it was removed before, ISO 8601: nothing was left to remove now. */
  readonly removedAt?: string;
}

/**
 * Removes what a migration keeps of its export: parts, rejects, and the values of its identity facts. Its
 * record, its receipts and its report stay, the report without ids of persons. May be interrupted and called again; one
 * that is complete is left as it is. Throws RefusedError while the migration runs, and ConfigError where it has a
 * schedule, or where the ledger of its destination does not know its identity facts and cannot be told.
 */
export async function removeMigration(
  store: MigrationStore,
  name: string,
  { keepRejects = false, forget = false, resolveLedger, env = {} }: RemoveOptions,
): Promise<Removed> {
  const { staging, now } = store;
  if (await isImporting(staging, name)) return removeHalfImported(store, name);
  if (forget && (await forgetGone(store, name))) return {};
  const record = await requireMigration(staging, name);
  if (await isScheduled(staging, name))
    throw new ConfigError(
      `migration "${name}" has a schedule, which would import it again; remove that first: backhaul schedule rm ${name}`,
    );
  const control = await loadControl(staging, name);
  const { kind } = await decideStored(staging, name, { kind: 'remove' }, control);
  if (kind === 'stay') return removeMoved(staging, name);
  if (!forget && control?.state === 'removed' && (await isComplete(store, record, keepRejects)))
    return { removedAt: control.at };
  // Some of them are gone by now.
  if (keepRejects && control?.keepsRejects === false)
    throw new RefusedError('removed', explainUnfinishedRemoval(name));
  await assertNotLeased(store, record);
  await assertNotReleased(staging, name);
  const { manifest } = await loadStoredManifest(staging, name);
  const facts = {
    staging,
    now,
    signal: new AbortController().signal,
    resolveLedger: (by: 'project' | 'key') =>
      resolveLedger(by === 'key' ? withoutProject(manifest) : manifest),
    whileHeld: (ledger: string, work: () => Promise<void>) => workWhileHeld(store, record, ledger, work),
  };
  if (!forget) await enterFacts(name, facts);
  // Not before: entering facts may take long, and others may begin meanwhile.
  await assertNoneIsSending(staging, record);
  if (!forget && control?.state !== 'removed') await assertCompared(staging, record, { keepRejects, env });
  const at = now().toISOString();
  const entered = await applyEvent(
    staging,
    record,
    { kind: 'remove' },
    {
      reason: `removed at ${at}`,
      at,
      keepsRejects: keepRejects,
    },
  );
  if (entered.kind === 'enter')
    await store.askRedis((redis) => mirrorControl(redis, record.id, entered)).catch(() => {});
  // Who writes a part looks at its epoch afterwards: what this removal does not list must find it over.
  await store.askRedis((redis) => redis.hdel(migrationKey(record.id), 'epoch')).catch(() => {});

  if (!keepRejects) await giveUpAttempts(staging, name);

  // One that began meanwhile either finds what was just entered, or needs the facts.
  await assertNotReleased(staging, name);
  const keys = layout(name);
  const left = await findFamilyLeft(staging, record);
  if (!left.hasOthers && !keepRejects) await removeFingerprints(staging, left.removed);
  const ledgers = forget ? await listLedgersOf(staging, name) : [];
  await removeFacts(name, { forget }, facts);
  if (forget) {
    await removeAll(staging, keys.prefix, () => false);
    for (const id of ledgers) await staging.remove(ledgerLayout(id).known(name)); // its name is free again
    await staging.remove(keys.record); // last, so that an interrupted removal can be called again
  } else {
    await hidePersons(staging, name);
    if (left.hasOthers && !keepRejects) await keepFoldResult(staging, name);
    await removeAll(staging, keys.prefix, createIsKept(record, { keepRejects, ...left }));
  }
  await store.askRedis((redis) => redis.del(migrationKey(record.id))).catch(() => {});
  const places = record.pins?.places;
  return places === undefined ? {} : { keptPlaces: toPlacesKey(places) };
}

function withoutProject(manifest: Manifest): Manifest {
  if (!manifest.destination) return manifest;
  const { project: _, ...destination } = manifest.destination;
  return { ...manifest, destination };
}

function createIsKept(
  record: MigrationRecord,
  { keepRejects, hasOthers }: { readonly keepRejects: boolean; readonly hasOthers: boolean },
): (key: string) => boolean {
  const keys = layout(record.name);
  const rejects = keepRejects ? [keys.rejects, keys.repeats] : [];
  // What others of its family send must not take the place of what was delivered, and goes to the same project, with the
  // same ids of persons.
  const ofFamily = [keys.allFingerprints, keys.foldResult, ...listMarks(record)];
  const sent = keepRejects || hasOthers ? ofFamily : [];
  // Receipts hold counts alone, and tell the ledger which facts there were.
  const states = [keys.controls, keys.oldControl, keys.notices, keys.oldReport];
  // And what a replay has in its books, that no other one sends it again.
  const origins = [...listSlices(record)].map(keys.originsOfSlice);
  const kept = [...states, keys.receipts, ...origins, keys.factsRemoved, ...rejects, ...sent];
  return (key) =>
    kept.some((each) => key.startsWith(each)) ||
    // That of a migration which had the name before may name persons.
    (key.startsWith(keys.reports) && isOwnReport(key, record.id));
}

/** Whether a removal that was begun got to its end: it takes from staging what goes, and then from Redis. */
async function isComplete(
  { staging, askRedis }: MigrationStore,
  record: MigrationRecord,
  keepRejects: boolean,
): Promise<boolean> {
  const { prefix, factsRemoved } = layout(record.name);
  if (!(await staging.get(factsRemoved))) return false;
  const { hasOthers } = await findFamilyLeft(staging, record);
  const isKept = createIsKept(record, { keepRejects, hasOthers });
  for await (const { key } of staging.list(prefix)) if (!isKept(key)) return false;
  return (await askRedis((redis) => redis.exists(migrationKey(record.id))).catch(() => 0)) !== 1;
}

const isImporting = async (staging: Staging, name: string): Promise<boolean> =>
  parseRecordKey(layout(name).record) !== undefined &&
  (await loadControl(staging, name))?.state === 'importing';

/** What an import wrote that did not end. None may go on meanwhile. */
const removeHalfImported = ({ staging, now }: MigrationStore, name: string): Promise<Removed> =>
  whileImporting(
    staging,
    { doing: `removes ${name}`, names: [name], signal: new AbortController().signal },
    async () => {
      if (await isImporting(staging, name)) {
        await markLedgers(staging, name, now().toISOString());
        return removeMoved(staging, name);
      }
      throw new RefusedError(
        'still_running',
        `the import of migration "${name}" has ended meanwhile, and nothing of it was removed`,
      );
    },
  );

/** An import takes them back just before its end. */
async function markLedgers(staging: Staging, name: string, at: string): Promise<void> {
  const inUse = new Set<string>();
  for (const other of await listMigrations(staging)) {
    const state = (await loadControl(staging, other))?.state;
    if (state === 'moved' || state === 'importing') continue;
    for (const id of await listLedgersOf(staging, other)) inUse.add(id);
  }
  for (const id of await listLedgersOf(staging, name))
    if (!inUse.has(id)) await markLedgerMoved(staging, id, at);
}

/** What an export left behind. Its ledger stays, and says that it continues elsewhere. */
async function removeMoved(staging: Staging, name: string): Promise<Removed> {
  const { prefix, record, controls } = layout(name);
  await removeAll(staging, prefix, (key) => key.startsWith(controls));
  await staging.remove(record); // then nobody finds it, and its states may go
  await removeAll(staging, prefix, () => false);
  return { isElsewhere: true };
}

/**
 * Drops what ledgers know of a migration whose own objects are gone from staging; false where it exists, or where no
 * ledger knows it.
 */
async function forgetGone(store: MigrationStore, name: string): Promise<boolean> {
  const { staging, now } = store;
  if (await loadMigration(staging, name)) return false;
  const ledgers = await listLedgersOf(staging, name);
  for (const id of ledgers) {
    // Its id went with its objects; that of another migration is never a name.
    await workWhileHeld(store, { id: name, name }, id, () => forgetLedger(staging, id, now()));
    await staging.remove(ledgerLayout(id).known(name));
  }
  return ledgers.length > 0;
}

/** What says that it was stopped may have been written by a producer that is still ending. */
async function assertNotLeased({ askRedis }: MigrationStore, { id, name }: MigrationRecord): Promise<void> {
  const leased = await askRedis((redis) => redis.exists(leaseKey(id))).catch(() => 0);
  if (leased !== 1) return;
  throw new RefusedError(
    'still_running',
    explainRefusal('still_running', { name, state: 'running', reason: '' }),
  );
}

/** Without Redis no migration has a turn; with it, one that has is not waited for. */
async function workWhileHeld(
  { askRedis }: MigrationStore,
  { id, name }: Pick<MigrationRecord, 'id' | 'name'>,
  ledger: string,
  work: () => Promise<void>,
): Promise<void> {
  let isHeld = false;
  const asked = askRedis(async (redis) => {
    const lock = await takeLedgerLock(ledger, {
      redis,
      migration: { id, name },
      assertRunning: async () => {},
      onWait: (holder) => {
        throw new ConfigError(
          `migration "${holder}" is about to send persons to the same destination; remove "${name}" when it has finished`,
        );
      },
      signal: new AbortController().signal,
    });
    isHeld = true;
    try {
      await work();
    } finally {
      await lock.release().catch(() => {});
    }
  });
  await asked.catch((error: unknown) => {
    if (isHeld || error instanceof ConfigError) throw error;
  });
  if (!isHeld) await work();
}

/** The samples of a report name persons; its counts do not. */
async function hidePersons(staging: Staging, name: string): Promise<void> {
  const key = await findReportKey(staging, name);
  const stored = await loadStoredReport(staging, name);
  if (!key || !stored) return;
  const { people } = stored;
  const hidden: Report = { ...stored, people: { ...people, setAsideSample: [], refused: [] } };
  await staging.put(key, encodeDocument(hidden));
}
