import { addCounts, isBalanced, zeroCounts } from '../contract/counts.ts';
import { type Receipt, receipt as receiptSchema } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { FencedOutError, SourceError } from '../lib/errors.ts';
import { encodeDocument, listDocuments, loadDocument } from './document.ts';
import { countFingerprints } from './fingerprints.ts';
import { layout, parseReceiptKey } from './keys/migration.ts';
import { loadMigration } from './migrations.ts';

/**
 * Creates the receipt of a part, or returns the one that exists: the first one counts (I5). One that a worker of a
 * removed migration of the same name left late is replaced, and FencedOutError thrown to that worker itself.
 */
export async function createReceipt(staging: Staging, name: string, receipt: Receipt): Promise<Receipt> {
  const key = layout(name).receipt(receipt.part);
  while (!(await staging.create(key, encodeDocument(receipt)))) {
    const existing = await loadReceipt(staging, name, receipt.part);
    if (existing && isReceiptOf(existing, receipt.migration)) return existing;
    if (!existing) continue;
    // The one that woke up late may be this one.
    const record = await loadMigration(staging, name);
    if (record && record.id !== receipt.migration)
      throw new FencedOutError(`migration "${name}" was removed, and another one has its name`);
    await staging.remove(key);
  }
  return receipt;
}

/** Whether a receipt is of the migration with this id: another one may have had its name. */
export const isReceiptOf = ({ migration }: Pick<Receipt, 'migration'>, id: string | undefined): boolean =>
  migration === undefined || id === undefined || migration === id;

/** Undefined until the part is imported to its end. SourceError for a receipt that cannot be believed. */
export async function loadReceipt(
  staging: Staging,
  name: string,
  part: string,
): Promise<Receipt | undefined> {
  const key = layout(name).receipt(part);
  const receipt = await loadDocument(receiptSchema, key, staging);
  const fault = receipt && findReceiptFault(receipt, name, part);
  if (fault === undefined) return receipt;
  throw new SourceError(
    `${staging.location}: ${key} ${fault}; restore it, or remove it and resume "${name}", which imports that part again (nothing is delivered twice)`,
  );
}

/** All receipts in key order, read a few at a time. Throws as loadReceipt does. */
export const listReceipts = (staging: Staging, name: string): AsyncGenerator<Receipt> =>
  listDocuments(staging, layout(name).receipts, (key) =>
    loadReceipt(staging, name, parseReceiptKey(name, key)),
  );

/**
 * Why a receipt cannot be that of the part whose key it has: it was copied, or its counts were changed. What
 * it says of other objects is compared with them by the report.
 */
export function findReceiptFault(receipt: Receipt, name: string, part: string): string | undefined {
  const { tally, byFile, rejectSegments, findings, fingerprints } = receipt;
  const { counts } = tally;
  if (receipt.part !== part) return `is the receipt of part ${receipt.part}`;
  if (!isBalanced(counts)) return `counts outcomes that do not add up to its ${counts.read} records`;
  if (byFile) {
    const sum = Object.values(byFile).reduce(addCounts, zeroCounts());
    const isEqual = Object.entries(counts).every(
      ([outcome, count]) => sum[outcome as keyof typeof sum] === count,
    );
    if (!isEqual) return 'counts other records by file than in all';
  }
  const { rejectsOf, findingsOf, fingerprintsOf } = layout(name);
  const foreign = [
    ...rejectSegments.filter(({ key }) => !key.startsWith(rejectsOf(part))),
    ...(findings && !findings.key.startsWith(findingsOf(part)) ? [findings] : []),
    ...(fingerprints && !fingerprints.key.startsWith(fingerprintsOf(part)) ? [fingerprints] : []),
  ];
  if (foreign[0]) return `names ${foreign[0].key}, which belongs to another part`;
  const sent = fingerprints && countFingerprints(fingerprints) - (fingerprints.eventRows ?? 0);
  if (sent !== undefined && sent !== counts.delivered) {
    return `counts ${counts.delivered} delivered records and has fingerprints of ${sent}`;
  }
  const kept = rejectSegments.reduce((sum, { records }) => sum + (records ?? Number.NaN), 0);
  // Not a number where a segment of version 0.1.0 did not note how many records it holds.
  return kept >= 0 && kept !== counts.rejected
    ? `counts ${counts.rejected} rejected records and names ${kept}`
    : undefined;
}
