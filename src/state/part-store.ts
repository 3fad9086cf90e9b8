import type { PartMeta } from '../contract/part.ts';
import type {
  FactsIndex,
  FingerprintIndex,
  Receipt,
  RejectNote,
  RejectSegment,
} from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { FencedOutError } from '../lib/errors.ts';
import { loadControl } from './control.ts';
import { saveFacts, type WritableFacts } from './facts/fact-object.ts';
import { type EncodedFingerprints, saveFingerprints } from './fingerprints.ts';
import { layout } from './keys/migration.ts';
import { toPartsPrefix } from './keys/parts.ts';
import { toOwnSegment } from './keys/segments.ts';
import { loadMigration, type MigrationRecord } from './migrations.ts';
import type { PartRecords } from './part-records.ts';
import { loadPart } from './parts.ts';
import { createReceipt, isReceiptOf, loadReceipt } from './receipts.ts';
import { type RejectedRecords, readRejects, saveRejects } from './rejects/rejects.ts';

/** Reads the parts of a migration and saves what importing them leaves. Segments: see `toSegmentName`. */
export interface PartStore {
  loadPart(part: PartMeta, signal?: AbortSignal): Promise<PartRecords>;
  /** Undefined until this very migration has imported the part to its end. */
  loadReceipt(partId: string): Promise<Receipt | undefined>;
  saveRejects(segment: string, rejects: RejectedRecords): Promise<RejectSegment>;
  /** Which records of the part a saved segment holds, and why. */
  loadRejected(segment: RejectSegment): Promise<RejectNote[]>;
  saveFacts(segment: string, facts: WritableFacts): Promise<FactsIndex>;
  saveFingerprints(segment: string, fingerprints: EncodedFingerprints): Promise<FingerprintIndex>;
  /** Creates the receipt, or returns the one that exists (I5). */
  createReceipt(receipt: Receipt): Promise<Receipt>;
}

export function createPartStore(
  staging: Staging,
  migration: Pick<MigrationRecord, 'name' | 'id' | 'partsById'>,
): PartStore {
  const { name, id } = migration;
  const keys = layout(name);
  const prefix = toPartsPrefix(migration);
  const toOwn = (segment: string) => toOwnSegment(segment, migration);
  return {
    loadPart: (part, signal) => loadPart(staging, prefix, part, signal),
    async loadReceipt(partId) {
      const receipt = await loadReceipt(staging, name, partId);
      return receipt && isReceiptOf(receipt, id) ? receipt : undefined;
    },
    saveRejects: (segment, rejects) => saveRejects(staging, keys.rejectSegment(toOwn(segment)), rejects),
    loadRejected: async (segment) =>
      // The reason was written by this program: a later one would not continue an older checkpoint.
      (await readRejects(staging, segment)).map(({ record, reason, detail, accepted }) => ({
        record,
        reason: reason as RejectNote['reason'],
        detail,
        ...(accepted ? { accepted } : {}),
      })),
    saveFingerprints: (segment, fingerprints) =>
      saveFingerprints(staging, keys.fingerprints(toOwn(segment)), fingerprints),
    saveFacts: (segment, facts) => saveFacts(staging, keys.findings(toOwn(segment)), facts),
    createReceipt: (receipt) => createReceipt(staging, name, { ...receipt, migration: id }),
  };
}

/**
 * A store that leaves nothing of a migration that was removed while its worker slept. Whoever removes it says so
 * before it lists what there is. So a writer that looks after its write either finds that out and removes the one
 * object, whose name is its own, or has written it before the listing. Throws FencedOutError then.
 */
export function leaveNothingOfRemoved(
  store: PartStore,
  staging: Staging,
  migration: Pick<MigrationRecord, 'name' | 'id'>,
): PartStore {
  const keep = async <T extends { readonly key: string }>(saving: Promise<T>): Promise<T> => {
    const saved = await saving;
    if (!(await isRemoved(staging, migration))) return saved;
    await staging.remove(saved.key);
    throw new FencedOutError(`migration "${migration.name}" was removed`);
  };
  return {
    ...store,
    saveRejects: (segment, rejects) => keep(store.saveRejects(segment, rejects)),
    saveFacts: (segment, facts) => keep(store.saveFacts(segment, facts)),
    saveFingerprints: (segment, fingerprints) => keep(store.saveFingerprints(segment, fingerprints)),
  };
}

/** What runs has a state; another migration may have the name by now. One that comes back from another place is none. */
export async function isRemoved(
  staging: Staging,
  own: Pick<MigrationRecord, 'name' | 'id'>,
): Promise<boolean> {
  const [control, record] = await Promise.all([loadControl(staging, own), loadMigration(staging, own.name)]);
  if (control?.state === 'importing') return false;
  return record?.id !== own.id || control === undefined || control.state === 'removed';
}
