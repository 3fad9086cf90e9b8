import { listStagedFiles, type PartMeta } from '../../contract/part.ts';
import type { Receipt, RejectSegment } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { countFingerprints, FINGERPRINT_BYTES } from '../../state/fingerprints.ts';
import { hashBytes } from '../../state/hash-bytes.ts';
import { layout } from '../../state/keys/migration.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import { createIsOwnSlice, type MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts, listParts } from '../../state/parts.ts';
import { listReceipts } from '../../state/receipts.ts';
import { createGeneration, loadRepeats, loadRepeatsIfWhole } from '../../state/repeats.ts';
import { createMigrationStamp } from '../manifest/stamps.ts';
import type { ReportInput } from './build-report.ts';
import { ReceiptTotals } from './receipt-totals.ts';

/** What staging holds of the parts of a migration, for `buildReport`. */
export type Books = Omit<ReportInput, 'persons' | 'failures' | 'isOver'>;

/**
 * Reads every receipt and description, also while a run is under way. Objects that receipts name are looked
 * up in listings; rejects and fingerprints are compared with their digests. Throws SourceError for a document that cannot be believed.
 *
 * @param willFold The caller folds repeats next, which makes a result that cannot be believed again.
 */
export async function loadBooks(
  staging: Staging,
  record: MigrationRecord,
  { willFold = false }: { readonly willFold?: boolean } = {},
): Promise<Books> {
  const { repeatsResult } = layout(record.name);
  const prefix = toPartsPrefix(record);
  const totals = new ReceiptTotals();
  const named = new NamedObjects(record.name);
  const generations = createGeneration();
  for await (const receipt of listReceipts(staging, record.name)) {
    generations.add(receipt);
    totals.add(receipt);
    named.add(receipt);
  }
  const generation = generations.end();
  const repeats = willFold
    ? await loadRepeatsIfWhole(staging, repeatsResult(generation.name), generation.rows)
    : await loadRepeats(staging, record.name, generation);
  if (repeats) named.addRejects(repeats.rejectSegments);
  // Slices before parts: one that ends between the two listings must not seem to have lost parts.
  const isOwn = createIsOwnSlice(record);
  const stagedFiles = [];
  const staged = new Set<string>();
  for await (const slice of listFileReceipts(staging, prefix)) {
    if (!isOwn(slice.fileId)) continue;
    stagedFiles.push(slice);
    for (const { fileId } of listStagedFiles(slice)) staged.add(fileId);
  }
  const parts: Pick<PartMeta, 'id' | 'records'>[] = [];
  for await (const { id, fileId, records } of listParts(staging, prefix))
    if (isOwn(fileId)) parts.push({ id, records });

  return {
    migration: record.name,
    replayOf: record.stampedAs ?? record.replays,
    mapping: record.mapping,
    destination: record.destination,
    startedAt: record.createdAt,
    stamps: createMigrationStamp(record)?.properties,
    totals,
    ...(repeats ? { repeats } : {}),
    partsWithoutFingerprints: generation.partsWithout,
    parts,
    stagedFiles,
    unstagedFiles: record.files.filter(({ fileId }) => !staged.has(fileId)).map(({ name }) => name),
    lostObjects: await named.findLost(staging),
  };
}

interface NamedObject {
  /** Undefined for rejects that folding all parts has found. */
  readonly part: string | undefined;
  readonly bytes: number | undefined;
  readonly sha256?: string | undefined;
}

/** Objects that are read at once, of half a megabyte at most; on S3 each is a round trip. */
const READ_AHEAD = 8;

/** The objects that receipts and the fold of repeats name, by key, with their size where it was noted. */
class NamedObjects {
  readonly #name: string;
  readonly #objects = new Map<string, NamedObject>();

  constructor(name: string) {
    this.#name = name;
  }

  add({ part, rejectSegments, findings, fingerprints }: Receipt): void {
    if (fingerprints) {
      const bytes = countFingerprints(fingerprints) * FINGERPRINT_BYTES;
      this.#objects.set(fingerprints.key, { part, bytes, sha256: fingerprints.sha256 });
    }
    for (const { key, bytes, sha256 } of rejectSegments) this.#objects.set(key, { part, bytes, sha256 });
    const last = findings?.sections.at(-1);
    if (findings && last) this.#objects.set(findings.key, { part, bytes: last.offset + last.length });
  }

  addRejects(segments: readonly RejectSegment[]): void {
    for (const { key, bytes, sha256 } of segments) this.#objects.set(key, { part: undefined, bytes, sha256 });
  }

  /** Those that are gone or not what was written, as sentences. Called once. */
  async findLost(staging: Staging): Promise<string[]> {
    const { rejects, allFindings, allFingerprints, repeats, receipt } = layout(this.#name);
    const lost: string[] = [];
    const readable: (NamedObject & { readonly key: string })[] = [];
    const advise = (part: string | undefined) =>
      part === undefined
        ? `restore it, or remove ${repeats} and resume: repeats are counted again`
        : `restore it, or remove ${receipt(part)} and resume: that part is imported again`;
    if (this.#objects.size === 0) return lost;
    for (const prefix of [rejects, allFindings, allFingerprints]) {
      for await (const { key, bytes } of staging.list(prefix)) {
        const object = this.#objects.get(key);
        this.#objects.delete(key);
        if (!object) continue;
        if (object.bytes === undefined || object.bytes === bytes) {
          if (object.sha256 !== undefined) readable.push({ key, ...object });
          continue;
        }
        lost.push(`${key} has ${bytes} bytes, and ${object.bytes} were written; ${advise(object.part)}`);
      }
    }
    for (const [key, { part }] of this.#objects) lost.push(`${key} is gone; ${advise(part)}`);
    const check = async ({ key, part, sha256 }: (typeof readable)[number]) => {
      const body = await staging.get(key);
      if (!body) lost.push(`${key} is gone; ${advise(part)}`);
      else if (hashBytes(body) !== sha256) lost.push(`${key} is not what was written; ${advise(part)}`);
    };
    for (let next = 0; next < readable.length; next += READ_AHEAD)
      await Promise.all(readable.slice(next, next + READ_AHEAD).map(check));
    return lost;
  }
}
