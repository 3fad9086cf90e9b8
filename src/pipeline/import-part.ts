import type { Deliver, Delivery } from '../contract/delivery.ts';
import type { PartMeta, PartRecord } from '../contract/part.ts';
import type { Checkpoint, FactsIndex, Receipt, RejectNote } from '../contract/progress.ts';
import { inOrder } from '../lib/async/ordered-concurrency.ts';
import type { Checkpoints } from '../state/checkpoints.ts';
import { toSegmentName } from '../state/keys.ts';
import { advance } from './advance.ts';
import type { Cut } from './segments.ts';
import { emptyTally } from './tally.ts';

/**
 * In: one staged part. Out: its receipt, and on the way its events at the destination, its rejects
 * and findings in staging. Promises I1, I3 and I5 of ARCHITECTURE.md: whatever dies on the way, the
 * next run of this function goes on from the last saved checkpoint.
 */
export interface ImportDeps {
  readonly checkpoints: Checkpoints;
  readonly readRecords: (part: PartMeta) => Promise<readonly PartRecord[]>;
  readonly toSegments: (records: readonly PartRecord[], from: number) => AsyncIterable<Cut>;
  readonly deliver: Deliver;
  /** Keeps rejects in staging and returns the key of their segment. */
  readonly keepRejects: (
    rejects: readonly RejectNote[],
    records: readonly PartRecord[],
    name: string,
  ) => Promise<string>;
  readonly keepFindings: (name: string) => Promise<FactsIndex | undefined>;
  readonly loadReceipt: (part: string) => Promise<Receipt | undefined>;
  /** Creates the receipt, or returns the one that exists. */
  readonly createReceipt: (receipt: Receipt) => Promise<Receipt>;
  readonly onProgress: (checkpoint: Checkpoint) => void;
  readonly mapping: string;
  readonly batchesInFlight: number;
}

/** Read, map, batch, deliver, advance, save. A crash between deliver and save sends one batch again. */
export async function importPart(part: PartMeta, deps: ImportDeps, signal: AbortSignal): Promise<Receipt> {
  const { fence, checkpoint } = await deps.checkpoints.begin(part.id);
  // Looked for once the part is ours: whoever held it before may have finished it meanwhile.
  const finished = await deps.loadReceipt(part.id);
  if (finished) return finished;
  let current: Checkpoint = checkpoint ?? startOf(part);

  const records = await deps.readRecords(part);
  const segments = deps.toSegments(records, current.position);
  const delivered = inOrder(segments, deps.batchesInFlight, signal, async (cut, cutSignal) => ({
    cut,
    deliveries: cut.batch ? await deps.deliver(cut.batch, cutSignal) : NONE,
  }));

  for await (const { cut, deliveries } of delivered) {
    const step = advance(current, cut.segment, deliveries);
    const rejectSegments = [...current.rejectSegments];
    if (step.rejects.length > 0) {
      rejectSegments.push(
        await deps.keepRejects(step.rejects, records, toSegmentName(fence, cut.segment.to)),
      );
    }
    current = { ...step.checkpoint, rejectSegments };
    await deps.checkpoints.save(fence, current);
    deps.onProgress(current);
  }

  const findings = await deps.keepFindings(toSegmentName(fence, current.position));
  const receipt = await deps.createReceipt({
    part: part.id,
    file: part.file,
    mapping: deps.mapping,
    tally: current.tally,
    rejectSegments: current.rejectSegments,
    ...(findings ? { findings } : {}),
  });
  await deps.checkpoints.forget(fence);
  return receipt;
}

const NONE: Delivery[] = [];

const startOf = (part: PartMeta): Checkpoint => ({
  part: part.id,
  position: 0,
  tally: emptyTally(),
  rejectSegments: [],
});
