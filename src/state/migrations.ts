import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { encodeDocument, listDocuments, loadDocument, loadIfWhole } from './document.ts';
import { layout, parseRecordKey, RECORDS } from './keys/migration.ts';

/** What a migration is run with. Holds no secret, only the names of variables that hold them (I10). */
export const opening = z.strictObject({
  manifest: z.unknown(),
  /** Folder that relative paths of the manifest start from, on the producer's machine. */
  baseDir: z.string(),
});

/**
 * Time of the last event that is not in the future, ISO 8601 in UTC with milliseconds. Absent where an earlier version
 * took the files in: it sent whatever time an event had, and they are finished in the same way.
 */
const latest = z.string().exactOptional();

/** What beside the map decides which events are made of records. */
const mappingPins = z.strictObject({
  /** Package and version of the parser of user agents. */
  agentParser: z.string(),
  /** SHA-256 of the file of places. */
  places: z.string().exactOptional(),
});
export type MappingPins = z.infer<typeof mappingPins>;

/** What a migration is; written once, when it is created. Holds no secret (I10). */
export const migrationRecord = z.strictObject({
  /** Random; keys in Redis carry it, so that a staging that was wiped and filled again meets no old checkpoints. */
  id: z.string(),
  name: z.string(),
  /** What must not change between run and resume; compared, and named field by field where it differs. */
  identity: z.unknown(),
  identitySha256: z.string(),
  /** Source type and version of its map, pinned: `amplitude@1`. */
  mapping: z.string(),
  /** Absent in migrations of earlier versions, whose maps needed none. */
  pins: mappingPins.exactOptional(),
  /** Address of the destination, or `bundled API`; for reports. */
  destination: z.string(),
  /** The source files as they were found. */
  files: z.array(
    z.strictObject({
      fileId: z.string(),
      name: z.string(),
      bytes: z.number(),
      modified: z.string(),
      /** The group of small files that it is staged with; absent where it is a slice by itself. */
      slice: z.string().optional(),
      /** Of a file of a top-up; never stored, as it stands in the top-up. */
      latest,
    }),
  ),
  /** Of its files, without those of top-ups. */
  latest,
  createdAt: z.string(),
  /**
   * Its parts are in a folder that is named by its id: see `toPartsPrefix`. Absent in migrations of earlier versions, and
   * in replays, whose parts are there before their records.
   */
  partsById: z.literal(true).exactOptional(),
  /** Migrations whose held persons it sends; it has no files of its own. */
  releases: z.array(z.string()).optional(),
  /** The migration whose rejects it sends again. */
  replays: z.string().exactOptional(),
  /** Its id: another one may have had the name before. Absent in replays of earlier versions. */
  replaysId: z.string().exactOptional(),
  /** Only those of one reason. */
  replaysReason: z.string().exactOptional(),
  /** Cancelled replays of the same migration, what was left of which it sends: they are not resumed. */
  takesOver: z.array(z.string()).exactOptional(),
  /** The migration that its events name, where that is another one: of a replay of a replay the first of all. */
  stampedAs: z.string().exactOptional(),
  /** What it was created with, for a resume before the first epoch was opened. */
  opening,
});
export type MigrationRecord = z.infer<typeof migrationRecord>;

/**
 * False when a migration of this name exists; that one is not changed.
 *
 * @throws SourceError where staging took the record and does not have it: no worker would find the migration
 */
export async function createMigration(staging: Staging, record: MigrationRecord): Promise<boolean> {
  const key = layout(record.name).record;
  const body = encodeDocument(record);
  const isCreated = await staging.create(key, body);
  const found = await staging.get(key);
  // The very same one: its response was lost.
  if (!isCreated) return found?.equals(body) ?? false;
  if (found !== undefined) return true;
  throw new SourceError(
    `${staging.location} accepted ${key}, and does not have it. Nothing was sent; correct the storage, then run the command again`,
  );
}

/** With the files of its top-ups. */
export async function loadMigration(staging: Staging, name: string): Promise<MigrationRecord | undefined> {
  const record = await loadDocument(migrationRecord, layout(name).record, staging);
  if (!record) return undefined;
  const files = new Map(record.files.map((file) => [file.fileId, file]));
  for await (const added of listTopUps(staging, record))
    for (const file of withLatest(added)) if (!files.has(file.fileId)) files.set(file.fileId, file);
  return { ...record, files: [...files.values()] };
}

/** What it was created with, without the files of its top-ups; undefined also where its record is damaged. */
export const loadOpening = async (
  staging: Staging,
  name: string,
): Promise<MigrationRecord['opening'] | undefined> =>
  (await loadIfWhole(migrationRecord, layout(name).record, staging))?.opening;

/** A migration, or whichever has this name now. */
export type Named = string | NameAndId;

/** Its name and id; the id is undefined where no migration has the name, or its record is damaged. */
export async function identify(
  staging: Staging,
  of: Named,
): Promise<{ readonly name: string; readonly id: string | undefined }> {
  if (typeof of !== 'string') return of;
  return { name: of, id: (await loadIfWhole(migrationRecord, layout(of).record, staging))?.id };
}

/** The slices that the files of a migration are staged as. */
export const listSlices = ({ files }: Pick<MigrationRecord, 'files'>): Set<string> =>
  new Set(files.map(({ fileId, slice }) => slice ?? fileId));

/**
 * Whether what is staged below the prefix of a migration is its own. Beside that of a replay there may be what other
 * attempts at it have staged: its record names the slices of the one that became it.
 */
export function createIsOwnSlice(
  record: Pick<MigrationRecord, 'files' | 'replays'>,
): (slice: string) => boolean {
  if (record.replays === undefined) return () => true;
  const slices = listSlices(record);
  return (slice) => slices.has(slice);
}

/**
 * Files that were taken into a migration after it was created. Written once. `of`: its id, as a process may have slept
 * while the name was given to another one.
 */
export const topUp = z.strictObject({
  at: z.string(),
  of: z.string().optional(),
  files: migrationRecord.shape.files,
  latest,
});
export type TopUp = z.infer<typeof topUp>;

/** The files of a top-up as those of its migration. */
export const withLatest = ({ files, latest }: TopUp): MigrationRecord['files'] =>
  latest === undefined ? files : files.map((file) => ({ ...file, latest }));

/** Of the slice of a part. */
export function findLatest(
  { files, latest }: Pick<MigrationRecord, 'files' | 'latest'>,
  { fileId }: { readonly fileId: string },
): string | undefined {
  return files.find((file) => (file.slice ?? file.fileId) === fileId)?.latest ?? latest;
}

type NameAndId = Pick<MigrationRecord, 'name' | 'id'>;

/** In the order in which they were taken in. */
export async function* listTopUps(staging: Staging, { name, id }: NameAndId): AsyncGenerator<TopUp> {
  const load = (key: string) => loadDocument(topUp, key, staging);
  for await (const added of listDocuments(staging, layout(name).topUps, load))
    if (added.of === undefined || added.of === id) yield added;
}

export async function addTopUp(
  staging: Staging,
  { name, id }: NameAndId,
  added: Omit<TopUp, 'of'>,
): Promise<void> {
  const body = encodeDocument({ ...added, of: id });
  for (let number = 1; ; number += 1) if (await staging.create(layout(name).topUp(number), body)) return;
}

export async function listMigrations(staging: Staging): Promise<string[]> {
  const names: string[] = [];
  for await (const { key } of staging.list(RECORDS)) {
    const name = parseRecordKey(key);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/** Removes everything below a prefix, which must belong to no migration. */
export async function clearStaging(staging: Staging, prefix: string): Promise<void> {
  for await (const { key } of staging.list(prefix)) await staging.remove(key);
}
