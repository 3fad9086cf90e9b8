import type { Deliver, Delivery } from '../contract/delivery.ts';
import type { PartMeta } from '../contract/part.ts';
import type { Checkpoint, Receipt, RejectNote } from '../contract/progress.ts';
import { BatchBuilder, type BatchLimits } from '../deliver/batch-builder.ts';
import type { Stamp } from '../deliver/stamp.ts';
import { FactFold } from '../identity/fact-fold.ts';
import { mapInOrder } from '../lib/async/ordered-concurrency.ts';
import { SourceError } from '../lib/errors.ts';
import { createBytesParser } from '../sources/formats/parse-record.ts';
import type { ImportMap } from '../sources/source.ts';
import type { Checkpoints } from '../state/checkpoints.ts';
import { toSegmentName } from '../state/keys/segments.ts';
import type { PartStore } from '../state/part-store.ts';
import type { SentBefore, SentOfRecord } from '../state/rejects/sent-before.ts';
import { advance } from './advance.ts';
import { Fingerprints } from './fingerprints.ts';
import { mapToBatches, type SegmentBatch } from './map-to-batches.ts';
import { Outcomes } from './outcomes.ts';
import { listPartKeys, type PartKeys, type TakenEvents } from './taken-events.ts';
import { emptyTally } from './tally.ts';

export interface ImportDeps {
  readonly checkpoints: Checkpoints;
  readonly store: PartStore;
  readonly map: ImportMap;
  /** Of a replay: events of the records of a part that were accepted before. @default none */
  readonly loadSentBefore?: (partId: string) => Promise<SentBefore>;
  /** The map under the vendor's ids, by which such events are known. @default `map` */
  readonly vendorMap?: ImportMap;
  /** What was delivered under the keys of a part, and is gone. @default nothing */
  readonly findTaken?: ((part: PartKeys) => Promise<TakenEvents>) | undefined;
  /** Source type and version of the map, for the receipt: `amplitude@1`. */
  readonly mapping: string;
  readonly batch: BatchLimits;
  /** What every event carries. */
  readonly stamp?: Stamp | undefined;
  readonly deliver: Deliver;
  /** Batches under delivery at once. */
  readonly requestsInFlight: number;
  /** Called after each saved checkpoint. */
  readonly onProgress: (checkpoint: Checkpoint) => void;
}

/**
 * Read, map, batch, deliver, advance, save. In: one staged part. Out: its receipt; its events are at the
 * destination, its rejects, identity facts and fingerprints in staging. Wherever an import is interrupted,
 * the next one continues at the last saved checkpoint (I1, I3, I5); a crash between deliver and save sends
 * the batches in flight again.
 */
export async function importPart(part: PartMeta, deps: ImportDeps, signal: AbortSignal): Promise<Receipt> {
  const { checkpoints, store, map } = deps;
  const { fence, checkpoint } = await checkpoints.begin(part.id);
  // Only now that the part is ours: its previous holder may have finished it meanwhile.
  const finished = await store.loadReceipt(part.id);
  if (finished) return finished;
  const continued = checkpoint && (await loadRejected(store, checkpoint));
  let current = continued ? checkpoint : startCheckpoint(part);
  const rejected = continued ?? new Map<number, RejectNote>();

  const records = await store.loadPart(part, signal);
  const { header } = records;
  const parse = createBytesParser(part.format, header, map.viewFields);
  const batches = new BatchBuilder(deps.batch);
  const facts = new FactFold();
  const outcomes = new Outcomes(records.count);
  const fingerprints = new Fingerprints(records.count);
  const sentBefore = (await deps.loadSentBefore?.(part.id)) ?? NOTHING_BEFORE;
  const { vendorMap = map } = deps;
  const taken = await deps.findTaken?.(listPartKeys(records, parse, map));
  const mapDeps = {
    ...{ parse, map, batches, outcomes, facts, fingerprints, stamp: deps.stamp },
    ...{ sentBefore, vendorMap, rejected, ...(taken ? { taken } : {}) },
    hasOwnIds: part.idFrom === 'record',
  };
  const mapped = mapToBatches(records, current.position, mapDeps);
  const send = async ({ segment, batch }: SegmentBatch, sendSignal: AbortSignal) => ({
    segment,
    batch,
    deliveries: batch ? await deps.deliver(batch, sendSignal) : NOTHING_SENT,
  });

  for await (const { segment, batch, deliveries } of mapInOrder(
    mapped,
    deps.requestsInFlight,
    signal,
    send,
  )) {
    if (batch) batches.release(batch);
    const step = advance(current, segment, outcomes, deliveries, rejected, {
      getFile: (record) => records.getFile(record),
      getEventKey: (record, event) => fingerprints.getEventKey(record, event),
    });
    current = step.checkpoint;
    const notes = step.rejects.map((note) => withSentBefore(note, sentBefore.get(note.record)));
    for (const note of notes) rejected.set(note.record, note);
    if (notes.length > 0) {
      const rejects = { part, header, records, notes };
      const kept = await store.saveRejects(toSegmentName(fence, segment.to), rejects);
      current = { ...current, rejectSegments: [...current.rejectSegments, kept] };
    }
    await checkpoints.save(fence, current);
    deps.onProgress(current);
  }

  batches.close();
  const { position, tally, byFile, rejectSegments } = current;
  const { id, file } = part;
  const segment = toSegmentName(fence, position);
  const sent = fingerprints.encode(
    (record) => rejected.has(record),
    outcomes.labels,
    Object.keys(tally.byEvent),
    createWasAccepted(rejected),
  );
  const [savedFacts, savedFingerprints] = await Promise.all([
    facts.size > 0 ? store.saveFacts(segment, facts) : undefined,
    sent.rows > 0 ? store.saveFingerprints(segment, sent) : undefined,
  ]);
  // Facts are read from its bytes until they are saved.
  records.release();
  const receipt = {
    part: id,
    file,
    mapping: deps.mapping,
    tally,
    ...(byFile ? { byFile } : {}),
    rejectSegments,
    ...(savedFacts ? { findings: savedFacts } : {}),
    ...(savedFingerprints ? { fingerprints: savedFingerprints } : {}),
  };
  const created = await store.createReceipt(receipt);
  await checkpoints.forget(fence);
  return created;
}

const NOTHING_SENT: readonly Delivery[] = [];
const NOTHING_BEFORE: SentBefore = new Map();

/** The events of a record are asked about one after the other, and one record may have very many. */
function createWasAccepted(
  rejected: ReadonlyMap<number, RejectNote>,
): (record: number, key: string) => boolean {
  let last: { readonly record: number; readonly accepted: ReadonlySet<string> } | undefined;
  return (record, key) => {
    if (last?.record !== record) last = { record, accepted: new Set(rejected.get(record)?.accepted) };
    return last.accepted.has(key);
  };
}

/** What was accepted before its part was made stays accepted. */
function withSentBefore(note: RejectNote, before: SentOfRecord | undefined): RejectNote {
  if (!before) return note;
  const accepted = [...new Set([...before.accepted, ...(note.accepted ?? [])])];
  return { ...note, accepted, ...(before.sends ? { sends: [...before.sends] } : {}) };
}

/**
 * Of the records before the checkpoint. Undefined where their objects are gone or damaged: the part starts over,
 * and rejects them again.
 */
async function loadRejected(
  store: PartStore,
  { rejectSegments }: Checkpoint,
): Promise<Map<number, RejectNote> | undefined> {
  const rejected = new Map<number, RejectNote>();
  try {
    for (const segment of rejectSegments)
      for (const note of await store.loadRejected(segment)) rejected.set(note.record, note);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
  return rejected;
}

const startCheckpoint = (part: PartMeta): Checkpoint => ({
  part: part.id,
  partSha256: part.sha256,
  position: 0,
  tally: emptyTally(),
  rejectSegments: [],
});
