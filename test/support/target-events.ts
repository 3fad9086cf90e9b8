import { createHash } from 'node:crypto';
import type { Batch } from '../../src/contract/delivery.ts';
import type { TargetEvent } from '../../src/contract/event.ts';
import { BatchBuilder } from '../../src/deliver/batch-builder.ts';

/** A valid event, the same for the same number. */
export function targetEvent(number: number, more: Record<string, unknown> = {}): TargetEvent {
  const hex = createHash('sha256').update(String(number)).digest('hex');
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return {
    uuid: uuid.join('-'),
    event: `event ${number % 7}`,
    timestamp: new Date(1_600_000_000_000 + number * 1000).toISOString(),
    properties: { distinct_id: `user-${number % 50}`, number, ...more },
  };
}

export function toBatch(events: readonly unknown[]): Batch {
  const builder = new BatchBuilder();
  for (const event of events) builder.add(JSON.stringify(event));
  return builder.take();
}

export const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);
