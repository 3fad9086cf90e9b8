import { type Receipt, receipt as receiptSchema } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout, parseReceiptKey } from './keys.ts';

/** Creates the receipt of a part, or returns the one that exists: the first one counts (I5). */
export async function createReceipt(staging: Staging, name: string, receipt: Receipt): Promise<Receipt> {
  if (await staging.create(layout(name).receipt(receipt.part), encodeDocument(receipt))) return receipt;
  return (await loadReceipt(staging, name, receipt.part)) ?? receipt;
}

export async function loadReceipt(
  staging: Staging,
  name: string,
  part: string,
): Promise<Receipt | undefined> {
  return loadDocument(receiptSchema, layout(name).receipt(part), staging);
}

/** All receipts in key order, read a few at a time. */
export async function* listReceipts(staging: Staging, name: string): AsyncGenerator<Receipt> {
  const { receipts } = layout(name);
  let pending: Promise<Receipt | undefined>[] = [];
  for await (const { key } of staging.list(receipts)) {
    pending.push(loadReceipt(staging, name, parseReceiptKey(name, key)));
    if (pending.length === 16) {
      for (const found of await Promise.all(pending)) if (found) yield found;
      pending = [];
    }
  }
  for (const found of await Promise.all(pending)) if (found) yield found;
}
