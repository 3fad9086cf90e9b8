import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Redis } from 'ioredis';
import type { Staging } from '../../contract/staging.ts';
import { mapInOrder } from '../../lib/async/ordered-concurrency.ts';
import { ConfigError } from '../../lib/errors.ts';
import { type ArchiveSums, writeArchive } from '../../state/archive/archive.ts';
import type { TarFile } from '../../state/archive/tar.ts';
import { mirrorControl } from '../../state/checkpoints.ts';
import { loadControl, loadNewestControl } from '../../state/control.ts';
import { loadAcceptanceMark } from '../../state/destination-marks.ts';
import { BUDGETS } from '../../state/keys/shared.ts';
import { markLedgerMoved } from '../../state/ledger/moved.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { isScheduled } from '../../state/schedules/schedules.ts';
import { stageCheckpoints } from '../../state/staged-checkpoints.ts';
import { applyEvent, decideStored, requireMigration } from '../life-store.ts';
import { whileUnproduced } from '../run/held-key.ts';
import { type ArchiveHead, isLeftOut, listPrefixes, type MovedMigration } from './contents.ts';
import { loadStateBefore, restoreStates } from './restore.ts';
import { findTogether, listTies, type Ties } from './together.ts';

export interface ExportDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly now: () => Date;
}

export interface ExportOptions {
  /** Path of the archive; no file may be there. */
  readonly file: string;
  /** Of Backhaul. */
  readonly version: string;
  readonly signal: AbortSignal;
  /** So many objects are in the archive. */
  readonly onProgress?: ((objects: number, bytes: number) => void) | undefined;
}

/** Objects that are read ahead, of at most 8 MiB each; on S3 each is a round trip. */
const READ_AHEAD = 8;
/** A worker that lost its producer may still end what it began. */
const ATTEMPTS = 3;

/**
 * Writes everything that some migrations are into one file, for `importState` at another place, and marks them here as
 * moved: neither they nor another migration to their project run here until they are brought back. Where the file
 * cannot be written, they stay as they were.
 *
 * Throws RefusedError while one of them runs, and ConfigError where one has a schedule or is one of several to its
 * project that are not all named.
 */
export async function exportState(
  deps: ExportDeps,
  names: readonly string[],
  options: ExportOptions,
): Promise<ArchiveSums & { readonly file: string }> {
  const { staging, redis, now } = deps;
  const file = resolve(options.file);
  if (existsSync(file)) throw new ConfigError(`${file} exists already; name another file`);
  const records = await Promise.all([...new Set(names)].map((name) => requireMigration(staging, name)));
  for (const { name } of records) await assertMovable(staging, name);
  const all = findTogether(await listTies(staging), names);
  assertAllNamed(all, names);

  const at = now().toISOString();
  const ledgers = [...new Set(all.flatMap((one) => one.ledgers))].sort();
  const before = await listStates(staging, records);
  const partial = `${file}.partial`;
  const reason = `exported to ${file} on ${hostname()} at ${at}`;
  const mark = async () => {
    for (const record of records) {
      const entered = await applyEvent(staging, record, { kind: 'export' }, { reason, at });
      if (entered.kind === 'enter') await mirrorControl(redis, record.id, entered);
      await stageCheckpoints(staging, redis, record);
    }
    for (const id of ledgers) await markLedgerMoved(staging, id, at);
  };
  let head: ArchiveHead | undefined;
  try {
    await whileNoneRuns(records, redis, mark);
    head = await describe(staging, records, all, { ledgers, at, version: options.version });
    const written = await writeWhole(staging, head, partial, options);
    const back = await findTakenBack(staging, head);
    if (back !== undefined)
      throw new ConfigError(
        `migration "${back}" was taken back while it was exported, and would be at two places; export it again`,
      );
    await rename(partial, file);
    return { ...written, file };
  } catch (error) {
    await rm(partial, { force: true });
    const begun = records.filter(({ name }) => before.get(name) !== 'moved').map(({ name }) => name);
    const isOwn = head === undefined || (await findTakenBack(staging, head)) === undefined;
    if (begun.length === records.length && isOwn) await restoreStates(staging, begun, ledgers, now());
    if (options.signal.aborted) throw options.signal.reason; // streams throw an error of their own
    throw isOfFile(error) ? new ConfigError(`${file} cannot be written (${error.message})`, error) : error;
  }
}

/** Errors of staging are our own. */
const isOfFile = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

async function assertMovable(staging: Staging, name: string): Promise<void> {
  await decideStored(staging, name, { kind: 'export' }, await loadControl(staging, name));
  if (await isScheduled(staging, name))
    throw new ConfigError(
      `migration "${name}" has a schedule, which stays here; remove it first (backhaul schedule rm ${name}), and set it again where the migration is imported`,
    );
}

function assertAllNamed(all: readonly Ties[], names: readonly string[]): void {
  const others = all.filter(({ name }) => !names.includes(name)).map(({ name }) => name);
  if (others.length === 0) return;
  throw new ConfigError(
    `migrations to one project move together, because what is known of its persons is kept once for all of them: name ${others.join(', ')} as well (backhaul state export ${[...names, ...others].join(' ')} --to <file>)`,
  );
}

const listStates = async (staging: Staging, records: readonly MigrationRecord[]) =>
  new Map(
    await Promise.all(
      records.map(async ({ name }) => [name, (await loadControl(staging, name))?.state] as const),
    ),
  );

/** With the leases of all of them. */
const whileNoneRuns = (
  [first, ...rest]: readonly MigrationRecord[],
  redis: Redis,
  work: () => Promise<void>,
): Promise<void> => (first ? whileUnproduced(first, redis, () => whileNoneRuns(rest, redis, work)) : work());

async function describe(
  staging: Staging,
  records: readonly MigrationRecord[],
  all: readonly Ties[],
  { ledgers, at, version }: { ledgers: readonly string[]; at: string; version: string },
): Promise<ArchiveHead> {
  const migrations: MovedMigration[] = [];
  for (const { id, name } of records) {
    const ties = all.find((one) => one.name === name);
    if (!ties) throw new Error(`${name} was removed meanwhile`);
    const accepted = await loadAcceptanceMark(staging, name);
    migrations.push({
      id,
      name,
      control: (await loadNewestControl(staging, name)).number,
      before: await loadStateBefore(staging, name),
      ...(ties.destination?.host === undefined && accepted ? { bundled: accepted.ledger } : {}),
      ties,
    });
  }
  const places = [...new Set(records.flatMap(({ pins }) => pins?.places ?? []))].sort();
  return { writtenBy: version, at, migrations, ledgers: [...ledgers], places };
}

/** A migration that has left the state in which this export put it: another export may have begun since. */
async function findTakenBack(staging: Staging, { migrations }: ArchiveHead): Promise<string | undefined> {
  for (const { name, control } of migrations) {
    const newest = await loadNewestControl(staging, name);
    if (newest.number !== control || newest.control?.state !== 'moved') return name;
  }
  return undefined;
}

/** Until nothing was written while it was read. */
async function writeWhole(
  staging: Staging,
  head: ArchiveHead,
  path: string,
  { signal, onProgress }: ExportOptions,
): Promise<ArchiveSums> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const read = createListing();
    const written = await writeArchive(
      path,
      head,
      readObjects(staging, head, read, { signal, onProgress }),
      signal,
    );
    const now = createListing();
    for await (const object of listObjects(staging, head)) now.add(object);
    if (now.digest() === read.digest()) return written;
  }
  throw new ConfigError(
    `${staging.location} changed while it was read: a worker is still busy with these migrations; stop it, and export again`,
  );
}

async function* readObjects(
  staging: Staging,
  head: ArchiveHead,
  read: ReturnType<typeof createListing>,
  { signal, onProgress }: Pick<ExportOptions, 'signal' | 'onProgress'>,
): AsyncGenerator<TarFile> {
  let objects = 0;
  let bytes = 0;
  const load = async ({ key }: Listed) => ({ name: key, body: await staging.get(key) });
  for await (const { name, body } of mapInOrder(listObjects(staging, head), READ_AHEAD, signal, load)) {
    if (!body) continue; // gone since it was listed
    read.add({ key: name, bytes: body.length });
    objects += 1;
    bytes += body.length;
    onProgress?.(objects, bytes);
    yield { name, body };
  }
}

interface Listed {
  readonly key: string;
  readonly bytes: number;
}

async function* listObjects(staging: Staging, head: ArchiveHead): AsyncGenerator<Listed> {
  for (const prefix of listPrefixes(head)) {
    for await (const object of staging.list(prefix))
      if ((prefix.endsWith('/') || object.key === prefix) && !isLeftOut(object.key, head)) yield object;
  }
}

/** Objects are created once, so another set of keys and lengths is all that can change; budgets are of others, too. */
function createListing() {
  const digest = createHash('sha256');
  return {
    add: ({ key, bytes }: Listed): void => {
      if (!key.startsWith(BUDGETS)) digest.update(`${key} ${bytes}\n`);
    },
    digest: () => digest.copy().digest('hex'),
  };
}
