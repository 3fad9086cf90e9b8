import type { PartMeta } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { type FoldedRange, foldedRange, mergeFolded } from '../../identity/folded-range.ts';
import { emptyPersonsTally, mergePersonsTally } from '../../identity/persons-tally.ts';
import { resolvedRange } from '../../identity/resolve-buckets.ts';
import { parseDocument } from '../../state/document.ts';
import { layout } from '../../state/keys.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts, listParts } from '../../state/parts.ts';
import { listReceipts } from '../../state/receipts.ts';
import type { Failure } from '../run/scheduler.ts';
import { buildReport } from './build-report.ts';
import { ReceiptTotals } from './receipt-totals.ts';
import type { Report } from './report.ts';

/** Loads all that staging holds of a migration and adds it up; also while a run is under way. */
export async function makeReport(
  staging: Staging,
  record: MigrationRecord,
  { failures, peopleDone }: { failures: readonly Failure[]; peopleDone: boolean },
): Promise<Report> {
  const { prefix } = layout(record.name);
  const totals = new ReceiptTotals();
  for await (const receipt of listReceipts(staging, record.name)) totals.add(receipt);
  // Files first: one that ends between the two listings must not seem to have lost parts.
  const stagedFiles = [];
  for await (const file of listFileReceipts(staging, prefix)) stagedFiles.push(file);
  const parts: Pick<PartMeta, 'id' | 'records'>[] = [];
  for await (const { id, records } of listParts(staging, prefix)) parts.push({ id, records });
  const staged = new Set(stagedFiles.map(({ fileId }) => fileId));
  const people = peopleDone ? await loadFolded(staging, record.name) : undefined;

  return buildReport({
    migration: record.name,
    mapping: record.mapping,
    destination: record.destination,
    startedAt: record.createdAt,
    totals,
    parts,
    stagedFiles,
    unstagedFiles: record.files.filter(({ fileId }) => !staged.has(fileId)).map(({ name }) => name),
    ...(people ? { people } : {}),
    failures: failures.map(({ work, reason }) => ({ what: `${work.name} ${work.id}`, reason })),
  });
}

/** What stayed unmerged when ids were resolved, and what folding sent. */
async function loadFolded(staging: Staging, name: string): Promise<FoldedRange> {
  const keys = layout(name);
  let folded: FoldedRange = { people: emptyPersonsTally(), events: { sent: 0, accepted: 0 }, refused: [] };
  for await (const { key } of staging.list(keys.folded)) {
    const body = await staging.get(key);
    if (body) folded = mergeFolded(folded, parseDocument(foldedRange, body, key, staging));
  }
  for await (const { key } of staging.list(keys.resolved)) {
    const body = await staging.get(key);
    if (!body) continue;
    const { people } = parseDocument(resolvedRange, body, key, staging);
    folded = { ...folded, people: mergePersonsTally(folded.people, people) };
  }
  return folded;
}
