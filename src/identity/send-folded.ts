import type { Batch, Deliver, Delivery } from '../contract/delivery.ts';
import type { TargetEvent } from '../contract/event.ts';
import { BatchBuilder, type BatchLimits } from '../deliver/batch-builder.ts';
import { stringifyJson } from '../lib/json/stringify-json.ts';
import type { FoldedChunk } from './fold-buckets.ts';
import { emptyFoldedRange, type FoldedRange, REFUSED_SAMPLE } from './folded-range.ts';
import { mergePersonsTally } from './persons-tally.ts';

export interface SendFoldedDeps {
  readonly limits: BatchLimits;
  readonly deliver: Deliver;
  readonly onProgress: (eventsSent: number) => void;
}

/** Sends the synthetic events of some buckets. After a crash it starts over, with the same uuids. */
export async function sendFolded(
  chunks: AsyncIterable<FoldedChunk>,
  { limits, deliver, onProgress }: SendFoldedDeps,
  signal: AbortSignal,
): Promise<FoldedRange> {
  const result: Counted = { ...emptyFoldedRange(), refusedCount: 0 };

  async function* packBatches(): AsyncGenerator<{ batch: Batch; events: TargetEvent[] }> {
    const batches = new BatchBuilder(limits);
    let events: TargetEvent[] = [];
    for await (const chunk of chunks) {
      result.people = mergePersonsTally(result.people, chunk.tally);
      for (const event of chunk.events) {
        const text = stringifyJson(event);
        let added = batches.add(text);
        if (added === 'full') {
          yield { batch: batches.take(), events };
          events = [];
          added = batches.add(text);
        }
        if (added === 'added') events.push(event);
        else
          countDelivery(result, event, {
            kind: 'refused',
            detail: 'larger than one event may be at the destination',
          });
      }
    }
    if (events.length > 0) yield { batch: batches.take(), events };
  }

  // One at a time: a merge must arrive before the properties that follow it.
  for await (const { batch, events } of packBatches()) {
    const deliveries = await deliver(batch, signal);
    events.forEach((event, index) => {
      result.events.sent += 1;
      countDelivery(
        result,
        event,
        deliveries[index] ?? { kind: 'refused', detail: 'no delivery for this event' },
      );
    });
    onProgress(result.events.sent);
  }
  return result;
}

type Counted = FoldedRange & { refusedCount: number };

function countDelivery(result: Counted, event: TargetEvent, delivery: Delivery): void {
  if (delivery.kind === 'accepted') {
    result.events.accepted += 1;
    return;
  }
  result.refusedCount += 1;
  if (result.refused.length < REFUSED_SAMPLE) {
    const { detail } = delivery;
    result.refused.push({
      event: event.event,
      distinctId: event.properties.distinct_id,
      uuid: event.uuid,
      detail,
    });
  }
}
