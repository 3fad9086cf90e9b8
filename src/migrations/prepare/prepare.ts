import { type Manifest, tooManyRejects } from '../../../config/manifest/manifest.ts';
import type { RecordCounts } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { hashSlice } from '../../pipeline/stage/hash-slice.ts';
import { assignSlices, type StagedSlice, toLost, toStagedSlices } from '../../pipeline/stage/slice-groups.ts';
import { listMappingNames, readPinnedVersion } from '../../sources/registry.ts';
import type { SourceSlice } from '../../sources/source.ts';
import { loadControl } from '../../state/control.ts';
import { loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { decideStored } from '../life-store.ts';
import { findPinDifference, pinMapping } from '../manifest/places.ts';
import type { ManifestAt } from '../manifest/stored-manifest.ts';
import type { MigrationRuntime } from '../migration-runtime.ts';
import { assertNotKnownElsewhere } from '../persons/project/known-elsewhere.ts';
import {
  assertFirstName,
  assertOneProject,
  toLedgerDestination,
} from '../persons/project/ledger-destination.ts';
import { checkHeaders } from '../plan/check-headers.ts';
import { checkSources } from './check-sources.ts';
import { assertSameDevices, findLedger, findManifestDifferences } from './compare-manifest.ts';
import { addFiles, assertNothingLeft, createRecord, toFile } from './create-record.ts';
import { type FindFiles, findCurrentSources, findFiles, loadStagedFiles } from './find-sources.ts';
import { type Allowed, preflight } from './preflight.ts';

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
  if (!known) {
    await assertFirstName(staging, name, destination, ledger);
    await assertNotKnownElsewhere(staging, name, destination, ledger);
  }
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
    ? await addFiles(runtime, known, assignSlices(added, known.files.length).map(toFile))
    : await createRecord(runtime, { manifest, baseDir }, assignSlices(files).map(toFile), undefined, {
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
