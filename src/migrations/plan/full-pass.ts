import type { Batch, Delivery } from '../../contract/delivery.ts';
import type { PartMeta } from '../../contract/part.ts';
import type { FactsIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import type { BatchLimits } from '../../deliver/batch-builder.ts';
import type { Stamp } from '../../deliver/stamp.ts';
import { connectPersons } from '../../identity/connect/connect-persons.ts';
import { EARLIER_ID_WIDTH } from '../../identity/connect/earlier-ids.ts';
import { foldBuckets } from '../../identity/fold-buckets.ts';
import { ID_WIDTH } from '../../identity/merges/id-entry.ts';
import { mergePersonsTally, type PersonsTally } from '../../identity/persons-tally.ts';
import { PROPERTY_WIDTH } from '../../identity/property-entry.ts';
import { resolveBuckets } from '../../identity/resolve-buckets.ts';
import type { LedgerAtTurn } from '../../identity/resolve-persons.ts';
import { importPart } from '../../pipeline/import-part.ts';
import { planSpace } from '../../pipeline/stage/plan-space.ts';
import { assignSlices, toStagedSlices } from '../../pipeline/stage/slice-groups.ts';
import { stageSlice } from '../../pipeline/stage/stage-slice.ts';
import type { ImportMap, SourceSlice } from '../../sources/source.ts';
import { BUCKETS } from '../../state/bucket.ts';
import type { Checkpoints } from '../../state/checkpoints.ts';
import { saveFacts } from '../../state/facts/fact-object.ts';
import type { LedgerTable } from '../../state/keys/ledger.ts';
import { partKeys, toFactsKey } from '../../state/keys/parts.ts';
import { toPlanFactsPrefix } from '../../state/keys/plan.ts';
import { createKeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { Ledger, SharedDevices } from '../../state/ledger/ledger.ts';
import { createLedgerTables, createMemoryTables } from '../../state/ledger/ledger-tables.ts';
import { loadTurns } from '../../state/ledger/turns.ts';
import type { PartStore } from '../../state/part-store.ts';
import { loadPart } from '../../state/parts.ts';
import { listKnownFacts, listOtherFacts } from '../persons/facts-of.ts';
import { findRemovedJoins } from '../persons/keep-links.ts';
import { atTurn } from '../persons/ledger-at-turn.ts';
import { ReceiptTotals } from '../report/receipt-totals.ts';

export interface FullPassInput {
  readonly staging: Staging;
  /** A folder of this pass's own, with its closing slash; the caller clears it before and after. */
  readonly scratch: string;
  readonly files: readonly SourceSlice[];
  readonly map: ImportMap;
  /** Those of the manifest: which events are too large depends on them. */
  readonly batch: BatchLimits;
  readonly stamp?: Stamp | undefined;
  readonly groupIdentifyEvent: string;
  readonly overwritePeople: boolean;
  /** What is known of the destination; nothing is entered. Undefined where nothing is. */
  readonly ledger: Ledger | undefined;
  /** @default 'none' */
  readonly sharedDevices?: SharedDevices;
  readonly signal: AbortSignal;
  /** Called with each batch that a run would send. */
  readonly onBatch: (batch: Batch) => void;
  readonly onProgress: (recordsRead: number) => void;
}

export interface FullPass {
  readonly totals: ReceiptTotals;
  readonly people: PersonsTally;
  readonly syntheticEvents: number;
}

/**
 * `plan --full`: takes every record through the spine of an import, with a destination that accepts
 * all and receives nothing. What it counts is what a run would send. A part is removed once it is
 * counted, so that the pass needs room for one part and the identity facts, whatever the source's size.
 */
export async function fullPass(input: FullPassInput): Promise<FullPass> {
  const { staging, scratch, files, signal } = input;
  const totals = new ReceiptTotals();
  const facts: FactsIndex[] = [];
  const keys = partKeys(scratch);

  const pass = async (part: PartMeta) => {
    const receipt = await importPart(
      part,
      {
        checkpoints: noCheckpoints,
        store: createScratchStore(staging, scratch),
        map: input.map,
        mapping: 'plan',
        batch: input.batch,
        stamp: input.stamp,
        deliver: async (events) => {
          input.onBatch(events);
          return new Array<Delivery>(events.offsets.length - 1).fill({ kind: 'accepted' });
        },
        requestsInFlight: 1,
        onProgress: () => {},
      },
      signal,
    );
    totals.add(receipt);
    if (receipt.findings) facts.push(receipt.findings);
    input.onProgress(totals.tally.counts.read);
    await staging.remove(keys.body(part));
    await staging.remove(keys.description(part.id));
  };
  const slices = toStagedSlices(assignSlices(files), files);
  // Of one part at a time.
  const { packing } = await planSpace(staging, []);
  for (const slice of slices)
    await stageSlice({ slice, staging, prefix: scratch, packing, onPart: pass, signal });
  return { totals, ...(await foldAll(input, facts)) };
}

async function foldAll(
  {
    staging,
    scratch,
    signal,
    batch,
    overwritePeople,
    groupIdentifyEvent,
    ledger: known,
    sharedDevices = 'none',
  }: FullPassInput,
  facts: readonly FactsIndex[],
): Promise<{ people: PersonsTally; syntheticEvents: number }> {
  const ledger = known
    ? await atTurn(known, staging, (await loadTurns(staging, known.id)).last + 1, 'send')
    : { ...KNOWS_NOTHING, sharedDevices };
  const openTables = (table: LedgerTable, width: number) =>
    createMemoryTables(width, known && createLedgerTables(staging, known.id, table, width));
  const all = { from: 0, to: BUCKETS, staging, signal, ledger };
  const tables = openTables('ids', ID_WIDTH);
  const earlierIds = openTables('earlier', EARLIER_ID_WIDTH);
  const prefix = toPlanFactsPrefix(scratch);
  const connected = await connectPersons({
    staging,
    signal,
    ledger,
    tables,
    earlierIds,
    prefix,
    listFacts: () => facts,
    ...(known
      ? {
          listKnown: () => listOtherFacts(staging, known.id, []),
          removedJoins: () => findRemovedJoins(staging, known),
        }
      : {}),
  });
  const resolved = await resolveBuckets({
    ...all,
    tables,
    earlierIds,
    prefix,
    facts,
    connected,
    sent:
      known && overwritePeople
        ? {
            facts: async function* () {
              yield* facts;
              yield* listKnownFacts(staging, known.id, []);
            },
            tables: openTables('properties', PROPERTY_WIDTH),
          }
        : undefined,
  });
  const merges = resolved.merges.reduce((sum, { count }) => sum + count, 0);
  let people = mergePersonsTally({ ...connected.people, pairs: merges }, resolved.people);
  let syntheticEvents = merges;
  const folded = foldBuckets({
    ...all,
    tables: openTables('properties', PROPERTY_WIDTH),
    facts: resolved.facts,
    overwrite: overwritePeople,
    groupIdentifyEvent,
    batch,
  });
  for await (const chunk of folded) {
    people = mergePersonsTally(people, chunk.tally);
    syntheticEvents += chunk.events.length;
  }
  return { people, syntheticEvents };
}

const KNOWS_NOTHING: LedgerAtTurn = {
  hash: createKeyedHash('plan'),
  turn: 1,
  purpose: 'send',
  hasEnded: () => true,
  isForgotten: false,
};

/** Parts and identity facts are kept while they are counted; receipts and rejects only counted. */
const createScratchStore = (staging: Staging, scratch: string): PartStore => ({
  loadPart: (part) => loadPart(staging, scratch, part),
  loadReceipt: async () => undefined,
  saveRejects: async (key, { notes }) => ({ key, bytes: 0, records: notes.length }),
  loadRejected: async () => [],
  saveFingerprints: async (key) => ({ key, sections: [] }),
  saveFacts: (segment, facts) => saveFacts(staging, toFactsKey(scratch, segment), facts),
  createReceipt: async (receipt) => receipt,
});

/** Nothing is sent, so nothing has to be remembered. */
const noCheckpoints: Checkpoints = {
  begin: async (part) => ({ fence: { part, epoch: 0, counter: 0 }, checkpoint: undefined }),
  save: async () => {},
  forget: async () => {},
};
