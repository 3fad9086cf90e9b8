import type { Staging } from '../../contract/staging.ts';
import { mapInOrder } from '../../lib/async/ordered-concurrency.ts';
import { ConfigError, FencedOutError, getMessage, SourceError } from '../../lib/errors.ts';
import { type ArchiveSums, readArchive } from '../../state/archive/archive.ts';
import type { TarFile } from '../../state/archive/tar.ts';
import { dropCheckpoints } from '../../state/checkpoints.ts';
import { addControl, loadNewestControl } from '../../state/control.ts';
import { ledgerLayout } from '../../state/keys/ledger.ts';
import { layout } from '../../state/keys/migration.ts';
import { toLedgerAccess } from '../../state/ledger/ledger.ts';
import { markLedgerMoved } from '../../state/ledger/moved.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { checkArchive } from './check-archive.ts';
import { findObstacle } from './check-place.ts';
import { type ArchiveHead, isLeftOut, isShared, type MovedMigration } from './contents.ts';
import { type ImportLock, whileImporting } from './import-lock.ts';
import { restoreStates, toRestored } from './restore.ts';
import { mirrorStates } from './take-back.ts';

export interface ImportOptions {
  readonly signal: AbortSignal;
  /** Project key of the bundled API of this machine; undefined where there is none. */
  readonly bundledKey: string | undefined;
  /** Called before the first thing is written of a migration. */
  readonly onBegin?: (() => void) | undefined;
  /** So many of all objects are written. */
  readonly onProgress?: ((objects: number, of: number) => void) | undefined;
}

/** Bodies of at most 8 MiB that are written at once. */
const WRITE_AT_ONCE = 8;
/** How long an import writes before it looks again whether another process has ended it. */
const LOOK_EVERY_MS = 1_000;
/** Objects that are removed at once; on S3 each is a round trip. */
const REMOVE_AT_ONCE = 16;

/**
 * Takes the migrations of an archive in. All of it is read and checked before anything is written; then the migrations
 * are marked as importing until the last object is there, so an import that was interrupted is run again with the same
 * file, or removed. Replaces what `exportState` left behind here, where it is not newer than the archive.
 *
 * Throws SourceError for a file that is damaged or from a newer version, and ConfigError where this staging has other
 * migrations of these names or to the same project, or is imported into by another process. Nothing is written then.
 */
export async function importState(
  store: MigrationStore,
  path: string,
  options: ImportOptions,
): Promise<ArchiveSums & { readonly migrations: readonly string[] }> {
  const { staging } = store;
  const { signal, bundledKey } = options;
  const { head, sums } = await read(path, () => checkArchive(path, signal));
  const bundled = bundledKey === undefined ? undefined : toBundledLedger(bundledKey);
  const look = async () => {
    const place = await findObstacle(staging, head, bundled);
    if (place.kind === 'refused') throw new ConfigError(`${place.reason}; nothing of ${path} was imported`);
    return place.kind;
  };
  await look(); // what is refused leaves nothing, not even who looked
  const names = head.migrations.map(({ name }) => name);
  await whileImporting(staging, { doing: `imports ${path}`, names, signal }, (lock) =>
    takeIn(store, path, { ...options, head, sums, lock, look }),
  );
  return { ...sums, migrations: names };
}

async function takeIn(
  store: MigrationStore,
  path: string,
  {
    head,
    sums,
    lock,
    look,
    signal,
    onBegin,
    onProgress,
  }: ImportOptions & {
    readonly head: ArchiveHead;
    readonly sums: ArchiveSums;
    readonly lock: ImportLock;
    /** Throws ConfigError where this place takes none of it in. */
    readonly look: () => Promise<'free' | 'written'>;
  },
): Promise<void> {
  const { staging, now } = store;
  const kind = await look();
  onBegin?.();
  const names = head.migrations.map(({ name }) => name);
  const before = new Map(head.migrations.map((one) => [one.name, toRestored(one.before)]));
  const at = now().toISOString();
  if (kind === 'free') {
    for (const id of head.ledgers) await markLedgerMoved(staging, id, at);
    for (const one of head.migrations) await markImporting(staging, one, { reason: `from ${path}`, at });
    const assertOpen = async () => {
      await assertImporting(staging, head, path);
      await lock.assertHeld();
    };
    await clear(staging, head, assertOpen);
    await read(path, () => write(staging, path, { signal, of: sums.files - 1, onProgress, assertOpen }));
    await assertOpen();
  }
  await restoreStates(staging, names, head.ledgers, now(), before);
  await mirrorStates(store, names);
  const drop = store.askRedis(async (redis) => {
    for (const { id } of head.migrations) await dropCheckpoints(redis, id);
  });
  await drop.catch(() => {});
}

const toBundledLedger = (apiKey: string) => toLedgerAccess({ url: undefined, project: undefined, apiKey }).id;

async function read<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES')
      throw new ConfigError(
        `${path} cannot be read (${getMessage(error)}); name the file of "backhaul state export"`,
        error,
      );
    if (!(error instanceof SourceError)) throw error;
    throw new SourceError(
      `${path} is not imported: ${error.message}. It must be the file of "backhaul state export" as it was written; copy it again`,
      error,
    );
  }
}

/** Before its record is there, so that nobody can run it. */
async function markImporting(
  staging: Staging,
  { id, name, control }: MovedMigration,
  { reason, at }: { readonly reason: string; readonly at: string },
): Promise<void> {
  const number = control + 1;
  const { number: newest } = await loadNewestControl(staging, name);
  if (newest < number)
    await addControl(staging, { id, name }, { number, control: { state: 'importing', reason, at } });
}

/** Another process may have ended the same import while this one slept: what runs since then must stay as it is. */
async function assertImporting(staging: Staging, head: ArchiveHead, path: string): Promise<void> {
  for (const { name, control } of head.migrations) {
    const newest = await loadNewestControl(staging, name);
    if (newest.number === control + 1 && newest.control?.state === 'importing') continue;
    throw new FencedOutError(
      `another process has imported migration "${name}" meanwhile; this import of ${path} ends (backhaul status ${name} shows what is there)`,
    );
  }
}

/** What an export left behind, or an import that was interrupted; the states of the migrations stay. */
async function clear(staging: Staging, head: ArchiveHead, assertOpen: () => Promise<void>): Promise<void> {
  const kept = head.migrations.map(({ name }) => layout(name).controls);
  let keys: string[] = [];
  const remove = async () => {
    await assertOpen();
    await Promise.all(keys.map((key) => staging.remove(key)));
    keys = [];
  };
  const folders = [
    ...head.migrations.map(({ name }) => layout(name).prefix),
    ...head.ledgers.map((id) => ledgerLayout(id).prefix),
  ];
  for (const prefix of folders) {
    for await (const { key } of staging.list(prefix)) {
      if (isLeftOut(key, head) || kept.some((each) => key.startsWith(each))) continue;
      keys.push(key);
      if (keys.length === REMOVE_AT_ONCE) await remove();
    }
  }
  await remove();
}

async function write(
  staging: Staging,
  path: string,
  {
    signal,
    of,
    onProgress,
    assertOpen,
  }: Pick<ImportOptions, 'signal' | 'onProgress'> & {
    readonly of: number;
    readonly assertOpen: () => Promise<void>;
  },
): Promise<void> {
  let lookedAt = 0;
  const put = async ({ name, body }: TarFile) => {
    if (Date.now() - lookedAt > LOOK_EVERY_MS) {
      await assertOpen();
      lookedAt = Date.now();
    }
    if (isShared(name)) await staging.create(name, body);
    else await staging.put(name, body);
  };
  let written = 0;
  const objects = readArchive(path, () => {});
  for await (const _ of mapInOrder(objects, WRITE_AT_ONCE, signal, put)) {
    written += 1;
    onProgress?.(written, of);
  }
}
