import type { Batch, SendCondition } from '../../contract/delivery.ts';
import { copyEvent } from '../ranges.ts';

/** An event that the destination accepted from this process: sent again, it tells an outage from one bad event. */
export interface KnownGood {
  /** Whether there is one, whatever its scope. */
  exists(): boolean;
  /** One of another scope must not be sent again; one without a condition always may. */
  find(condition: SendCondition | undefined): Batch | undefined;
  /** Keeps an event that was accepted, where none can be found. */
  note(batch: Batch, index: number, condition: SendCondition | undefined): void;
}

export function createKnownGood(): KnownGood {
  let good: { readonly event: Batch; readonly scope: string | undefined } | undefined;
  const find = (condition: SendCondition | undefined) =>
    good?.scope === undefined || good.scope === condition?.scope ? good?.event : undefined;
  return {
    exists: () => good !== undefined,
    find,
    note(batch, index, condition) {
      if (!find(condition)) good = { event: copyEvent(batch, index), scope: condition?.scope };
    },
  };
}
