import { listStagedFiles, type PartMeta } from '../../contract/part.ts';
import type { Receipt } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { layout } from '../../state/keys.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts, listParts } from '../../state/parts.ts';
import { listReceipts } from '../../state/receipts.ts';
import type { ReportInput } from './build-report.ts';
import { ReceiptTotals } from './receipt-totals.ts';

/** What staging holds of the parts of a migration, for `buildReport`. */
export type Books = Omit<ReportInput, 'persons' | 'failures' | 'isOver'>;

/**
 * Reads every receipt and description, also while a run is under way. Objects that receipts name are looked
 * up in listings and not read. Throws SourceError for a document that cannot be believed.
 */
export async function loadBooks(staging: Staging, record: MigrationRecord): Promise<Books> {
  const { prefix } = layout(record.name);
  const totals = new ReceiptTotals();
  const named = new NamedObjects(record.name);
  for await (const receipt of listReceipts(staging, record.name)) {
    totals.add(receipt);
    named.add(receipt);
  }
  // Slices before parts: one that ends between the two listings must not seem to have lost parts.
  const stagedFiles = [];
  const staged = new Set<string>();
  for await (const slice of listFileReceipts(staging, prefix)) {
    stagedFiles.push(slice);
    for (const { fileId } of listStagedFiles(slice)) staged.add(fileId);
  }
  const parts: Pick<PartMeta, 'id' | 'records'>[] = [];
  for await (const { id, records } of listParts(staging, prefix)) parts.push({ id, records });

  return {
    migration: record.name,
    mapping: record.mapping,
    destination: record.destination,
    startedAt: record.createdAt,
    totals,
    parts,
    stagedFiles,
    unstagedFiles: record.files.filter(({ fileId }) => !staged.has(fileId)).map(({ name }) => name),
    lostObjects: await named.findLost(staging),
  };
}

/** The objects that receipts name, by key: their part, and their size where it was noted. */
class NamedObjects {
  readonly #name: string;
  readonly #objects = new Map<string, { readonly part: string; readonly bytes: number | undefined }>();

  constructor(name: string) {
    this.#name = name;
  }

  add({ part, rejectSegments, findings }: Receipt): void {
    for (const { key, bytes } of rejectSegments) this.#objects.set(key, { part, bytes });
    const last = findings?.sections.at(-1);
    if (findings && last) this.#objects.set(findings.key, { part, bytes: last.offset + last.length });
  }

  /** Those that are gone or have another size, as sentences. Called once. */
  async findLost(staging: Staging): Promise<string[]> {
    const { rejects, allFindings, receipt } = layout(this.#name);
    const lost: string[] = [];
    const advise = (part: string) =>
      `restore it, or remove ${receipt(part)} and resume: that part is imported again`;
    if (this.#objects.size === 0) return lost;
    for (const prefix of [rejects, allFindings]) {
      for await (const { key, bytes } of staging.list(prefix)) {
        const object = this.#objects.get(key);
        this.#objects.delete(key);
        if (object?.bytes === undefined || object.bytes === bytes) continue;
        lost.push(`${key} has ${bytes} bytes, and ${object.bytes} were written; ${advise(object.part)}`);
      }
    }
    for (const [key, { part }] of this.#objects) lost.push(`${key} is gone; ${advise(part)}`);
    return lost;
  }
}
