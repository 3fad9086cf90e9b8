import { isStaged, listStagedFiles } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { parseFileReceiptKey, partKeys, toPartsPrefix } from '../../state/keys/parts.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts } from '../../state/parts.ts';

/**
 * Files of a migration that no run has staged. Where all slices have a receipt, which is nearly always, the keys of
 * these say so; an earlier version may have staged a file in the slice of another top-up, which only receipts say.
 */
export async function countUnstaged(
  staging: Staging,
  record: Pick<MigrationRecord, 'name' | 'id' | 'partsById' | 'files'>,
): Promise<number> {
  const prefix = toPartsPrefix(record);
  const slices = new Set<string>();
  for await (const { key } of staging.list(partKeys(prefix).receipts)) {
    const slice = parseFileReceiptKey(key)?.fileId;
    if (slice !== undefined) slices.add(slice);
  }
  const left = new Set(
    record.files.filter(({ fileId, slice = fileId }) => !slices.has(slice)).map(({ fileId }) => fileId),
  );
  if (left.size === 0) return 0;
  for await (const receipt of listFileReceipts(staging, prefix))
    if (isStaged(receipt)) for (const { fileId } of listStagedFiles(receipt)) left.delete(fileId);
  return left.size;
}
