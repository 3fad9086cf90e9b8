import type { PartMeta } from '../contract/part.ts';
import type { FactsIndex, Receipt, RejectSegment } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { type StoredFact, saveFacts } from './facts.ts';
import type { DecodedFrames } from './frames.ts';
import { layout } from './keys.ts';
import { loadPart } from './parts.ts';
import { createReceipt, loadReceipt } from './receipts.ts';
import { type RejectedRecords, saveRejects } from './rejects.ts';

/** Reads the parts of a migration and saves what importing them leaves. Segments: see `toSegmentName`. */
export interface PartStore {
  loadPart(part: PartMeta): Promise<DecodedFrames>;
  /** Undefined until the part is imported to its end. */
  loadReceipt(partId: string): Promise<Receipt | undefined>;
  saveRejects(segment: string, rejects: RejectedRecords): Promise<RejectSegment>;
  saveFacts(segment: string, facts: Iterable<StoredFact>): Promise<FactsIndex>;
  /** Creates the receipt, or returns the one that exists (I5). */
  createReceipt(receipt: Receipt): Promise<Receipt>;
}

export function createPartStore(staging: Staging, migration: string): PartStore {
  const keys = layout(migration);
  return {
    loadPart: (part) => loadPart(staging, keys.prefix, part),
    loadReceipt: (partId) => loadReceipt(staging, migration, partId),
    saveRejects: (segment, rejects) => saveRejects(staging, keys.rejectSegment(segment), rejects),
    saveFacts: (segment, facts) => saveFacts(staging, keys.findings(segment), facts),
    createReceipt: (receipt) => createReceipt(staging, migration, receipt),
  };
}
