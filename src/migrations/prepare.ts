import { randomUUID } from 'node:crypto';
import { parseStoredManifest } from '../../config/manifest/load-manifest.ts';
import { type Manifest, tooManyRejects } from '../../config/manifest/manifest.ts';
import { manifestIdentity } from '../../config/manifest/manifest-identity.ts';
import { listStagedFiles, type StagedFile } from '../contract/part.ts';
import type { RecordCounts } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { toLatest } from '../deliver/not-stored.ts';
import { ConfigError } from '../lib/errors.ts';
import { hashSlice } from '../pipeline/stage/hash-slice.ts';
import { assignSlices, type StagedSlice, toLost, toStagedSlices } from '../pipeline/stage/slice-groups.ts';
import { areStagedRejects } from '../pipeline/stage/stage-rejects.ts';
import { bindSource, getMappingName, listMappingNames, readPinnedVersion } from '../sources/registry.ts';
import { type SourceContext, type SourceSlice, toSourceSlice } from '../sources/source.ts';
import { loadControl } from '../state/control.ts';
import { loadLatestEpoch } from '../state/epochs.ts';
import { isNamedNote, layout } from '../state/keys/migration.ts';
import { partKeys, toPartsPrefix } from '../state/keys/parts.ts';
import {
  addTopUp,
  createMigration,
  loadMigration,
  type MigrationRecord,
  withLatest,
} from '../state/migrations.ts';
import { listFileReceipts } from '../state/parts.ts';
import { checkSources } from './check-sources.ts';
import { assertSameDevices, findLedger, findManifestDifferences } from './compare-manifest.ts';
import { decideStored, requireMigration } from './life-store.ts';
import { findPinDifference, pinMapping } from './manifest/places.ts';
import type { MigrationRuntime, MigrationStore, SourceAccess } from './migration-runtime.ts';
import { assertFirstName, assertOneProject, toLedgerDestination } from './persons/ledger-destination.ts';
import { checkHeaders } from './plan/check-headers.ts';
import { type Allowed, preflight } from './preflight.ts';

/** A manifest, and the folder its relative paths start from. */
export interface ManifestAt {
  readonly manifest: Manifest;
  readonly baseDir: string;
}

/** A migration that exists in staging and whose sources were checked: ready to run. */
export interface Prepared {
  readonly record: MigrationRecord;
  readonly manifest: Manifest;
  readonly baseDir: string;
  /** To be staged where they are not yet; none where all of the source is staged and the source is gone. */
  readonly slices: readonly StagedSlice[];
  readonly allowed: Allowed;
  tooManyRejects(counts: RecordCounts): boolean;
}

/**
 * What becomes of files that the migration does not have yet: `refuse` names them, `leave` continues without
 * them, `take` adds them to the migration.
 */
export type NewFiles = 'refuse' | 'leave' | 'take';

export interface PrepareOptions {
  /** New files that are not are left out; each is asked for. @default all are */
  readonly isSettled?: (file: SourceSlice) => boolean;
  /** See SourceContext. @default false */
  readonly allowEmpty?: boolean;
}

/**
 * Finds the source, and creates the migration or recognises it. One that exists continues only while manifest
 * and sources are what they were; else throws a ConfigError with what differs and what the choices are.
 * Throws PreflightError where the contract asks for an approval.
 */
export async function prepareMigration(
  runtime: MigrationRuntime,
  { manifest, baseDir }: ManifestAt,
  newFiles: NewFiles,
  { isSettled = () => true, allowEmpty = false }: PrepareOptions = {},
): Promise<Prepared> {
  const { staging } = runtime;
  const { name } = manifest;
  const known = await loadMigration(staging, name);
  const destination = toLedgerDestination(manifest);
  const ledger = findLedger(manifest, runtime);
  await assertOneProject(staging, name, destination, ledger);
  if (!known) await assertFirstName(staging, name, destination, ledger);
  await assertSameDevices(runtime, manifest);

  const onLeftOut = (sentence: string) => runtime.log.warn(sentence);
  const find: FindFiles = (allowed) =>
    findFiles(runtime, { manifest, baseDir }, { allowEmpty, onLeftOut, ...allowed });
  const isForNew = newFiles === 'take';
  const current = known && (await findCurrentSources(known, staging, { find, isForNew, allowEmpty }));
  let files = known ? (current ?? []) : (await find()).filter(isSettled);
  if (!known) await checkHeaders(files, manifest.source);
  let added: readonly SourceSlice[] = [];
  let lost: readonly SourceSlice[] = [];

  if (known) {
    const differences = await findDifferences(runtime, known, manifest);
    let refused: string[] = [];
    if (current) {
      const staged = await loadStagedFiles(staging, known);
      const changes = await checkSources(known.files, files, staged, hashSlice);
      differences.push(...changes.differences);
      if (newFiles === 'refuse') refused = changes.added.map((file) => `${file.name} is new`);
      if (isForNew) added = changes.added.filter(isSettled);
      files = [...changes.known, ...added];
      lost = changes.lost.map(toLost);
    }
    if (differences.length + refused.length > 0) throw changed(name, differences, staging.location, refused);
    await checkHeaders(added, manifest.source);
  }

  const allowed = await preflight(runtime, manifest, files);
  if (!known) await assertNothingLeft(staging, name);
  const record = known
    ? await addFiles(runtime, known, assignSlices(added, known.files.length).map(asFound))
    : await createRecord(runtime, { manifest, baseDir }, assignSlices(files).map(asFound), undefined, {
        pins: await pinMapping(staging, manifest, baseDir),
        partsById: true,
      });
  return toPrepared(record, { manifest, baseDir }, [...files, ...lost], allowed);
}

type ComparingRuntime = Parameters<typeof findManifestDifferences>[0];

/** What keeps a migration from being continued with a manifest, whatever became of its files. */
async function findDifferences(
  runtime: ComparingRuntime,
  known: MigrationRecord,
  manifest: Manifest,
): Promise<string[]> {
  const { type } = manifest.source;
  const differences = await findManifestDifferences(runtime, known, manifest);
  if (readPinnedVersion(known.mapping, type) === undefined)
    differences.push(`the mapping was ${known.mapping}, this version has ${listMappingNames(type)}`);
  const pinDifference = findPinDifference(known);
  if (pinDifference !== undefined) differences.push(pinDifference);
  return differences;
}

/** Throws ConfigError, in the words of a run, where the migration of that name exists and is another one. */
export async function assertContinues(runtime: ComparingRuntime, manifest: Manifest): Promise<void> {
  const { staging } = runtime;
  const { name } = manifest;
  const known = await loadMigration(staging, name);
  const differences = known ? await findDifferences(runtime, known, manifest) : [];
  if (differences.length > 0) throw changed(name, differences, staging.location);
}

/** Throws RefusedError, in the words of a run, where the migration of that name was removed. */
export async function assertNotRemoved(staging: Staging, name: string): Promise<void> {
  const control = await loadControl(staging, name);
  if (control?.state === 'removed' && (await loadMigration(staging, name)))
    await decideStored(staging, name, { kind: 'run' }, control);
}

export const toPrepared = (
  record: MigrationRecord,
  { manifest, baseDir }: ManifestAt,
  found: readonly SourceSlice[],
  allowed: Allowed,
): Prepared => ({
  record,
  manifest,
  baseDir,
  slices: found.length === 0 ? [] : toStagedSlices(record.files, found),
  allowed,
  tooManyRejects: (counts) => tooManyRejects(manifest.rejects.failAbove, counts),
});

type FindFiles = (allowed?: Pick<SourceContext, 'allowEmpty' | 'wasThere'>) => Promise<SourceSlice[]>;

interface Finding {
  readonly find: FindFiles;
  readonly isForNew: boolean;
  readonly allowEmpty: boolean;
}

/**
 * The source as it is now; undefined where all of it is staged and it cannot be found any more. Whoever looks for
 * what is new is not told that nothing is. Files that are gone are none of what keeps others from being found; where
 * nothing is left, and nothing is staged, it is the source that is in the wrong place.
 */
async function findCurrentSources(
  known: MigrationRecord,
  staging: Staging,
  { find, isForNew, allowEmpty }: Finding,
): Promise<SourceSlice[] | undefined> {
  if (areStagedRejects(known.files) || known.releases) return undefined;
  const names = new Set(known.files.map(({ name }) => name));
  try {
    const found = await find({ allowEmpty: true, wasThere: (name) => names.has(name) });
    if (found.length > 0 || allowEmpty) return found;
    return isForNew || !(await hasParts(staging, known)) ? await find() : found;
  } catch (error) {
    if (isForNew) throw error;
    const staged = await loadStagedFiles(staging, known);
    if (known.files.every(({ fileId }) => staged.has(fileId))) return undefined;
    throw error;
  }
}

async function hasParts(staging: Staging, record: Parameters<typeof toPartsPrefix>[0]): Promise<boolean> {
  for await (const _ of staging.list(partKeys(toPartsPrefix(record)).parts)) return true;
  return false;
}

export async function loadStagedFiles(
  staging: Staging,
  record: Parameters<typeof toPartsPrefix>[0],
): Promise<Map<string, StagedFile>> {
  const files = new Map<string, StagedFile>();
  for await (const receipt of listFileReceipts(staging, toPartsPrefix(record)))
    for (const file of listStagedFiles(receipt)) files.set(file.fileId, file);
  return files;
}

export async function findFiles(
  { openSourceBucket }: SourceAccess,
  { manifest, baseDir }: ManifestAt,
  {
    allowEmpty = false,
    wasThere,
    onLeftOut,
  }: Pick<SourceContext, 'allowEmpty' | 'wasThere' | 'onLeftOut'> = {},
): Promise<SourceSlice[]> {
  const source = bindSource(manifest.source);
  const access = { baseDir, openS3: openSourceBucket, allowEmpty, wasThere, onLeftOut };
  const slices = await source.discover(access);
  return slices.map((slice) => toSourceSlice(slice, source, access));
}

/** Parts and receipts that belong to no migration must not become those of this one. */
async function assertNothingLeft(staging: Staging, name: string): Promise<void> {
  const { prefix, record } = layout(name);
  for await (const { key } of staging.list(prefix)) {
    if (isNamedNote(key)) continue;
    if (await loadMigration(staging, name)) throw new StartedMeanwhileError(name);
    throw new ConfigError(
      `${staging.location} holds ${key}, but no migration "${name}" (${record} is missing): it may belong to one whose record was removed. ` +
        `Put the record back to continue that one; or remove the folder ${prefix} and run again, or give the manifest another name (nothing is delivered twice)`,
    );
  }
}

export async function createRecord(
  { staging, now }: Pick<MigrationStore, 'staging' | 'now'>,
  opening: ManifestAt,
  files: MigrationRecord['files'],
  mapping = getMappingName(opening.manifest.source.type),
  derived: Pick<
    MigrationRecord,
    'releases' | 'replays' | 'replaysId' | 'replaysReason' | 'takesOver' | 'stampedAs' | 'pins' | 'partsById'
  > = {},
): Promise<MigrationRecord> {
  const { manifest } = opening;
  const { identity, sha256 } = manifestIdentity(manifest);
  const begun = now();
  const record: MigrationRecord = {
    id: randomUUID(),
    name: manifest.name,
    identity,
    identitySha256: sha256,
    mapping,
    destination: manifest.destination?.url ?? 'bundled API',
    files: [...files],
    latest: toLatest(begun),
    createdAt: begun.toISOString(),
    ...derived,
    opening: { manifest, baseDir: opening.baseDir },
  };
  if (await createMigration(staging, record)) return record;
  throw new StartedMeanwhileError(manifest.name);
}

/** Another process has created the migration since this one looked. */
export class StartedMeanwhileError extends ConfigError {
  constructor(name: string) {
    super(`migration "${name}" was started by another process this very moment; run the command again`);
  }
}

/** The migration with the files of a top-up; they stay its own, whatever becomes of this run. */
async function addFiles(
  { staging, now }: Pick<MigrationStore, 'staging' | 'now'>,
  record: MigrationRecord,
  files: MigrationRecord['files'],
): Promise<MigrationRecord> {
  if (files.length === 0) return record;
  const at = now();
  const added = { at: at.toISOString(), files, latest: toLatest(at) };
  await addTopUp(staging, record, added);
  return { ...record, files: [...record.files, ...withLatest(added)] };
}

const asFound = ({ fileId, name, bytes, modified, slice }: SourceSlice & { slice?: string | undefined }) => ({
  fileId,
  name,
  bytes,
  modified,
  ...(slice === undefined ? {} : { slice }),
});

/** `added`: new files that were refused. Beside other differences nothing would take them in, or go on without them. */
function changed(
  name: string,
  differences: readonly string[],
  where: string,
  added: readonly string[] = [],
): ConfigError {
  const choice =
    differences.length === 0
      ? 'take the new files in with run --top-up, or continue without them with resume'
      : 'put back what it was and run again';
  return new ConfigError(
    [
      `Migration "${name}" exists in ${where}, and is not the same:`,
      ...[...differences, ...added].map((line) => `  - ${line}`),
      `Choices: ${choice};`,
      'or give the manifest a new name, which imports everything under that name (events that are already there are',
      'dropped by their uuid and cost nothing).',
    ].join('\n'),
  );
}

/** The manifest of the last epoch, for `resume` by name: edited limits need `run`. Throws RefusedError. */
export async function loadStoredManifest(staging: Staging, name: string): Promise<ManifestAt> {
  const opening = (await loadLatestEpoch(staging, name)) ?? (await requireMigration(staging, name)).opening;
  return { manifest: parseStoredManifest(opening.manifest, staging.location), baseDir: opening.baseDir };
}
