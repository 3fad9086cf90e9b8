import type { Batch } from '../../contract/delivery.ts';
import type { TargetEvent } from '../../contract/event.ts';
import { PausedError } from '../../lib/errors.ts';

/** Times that a job with such an event is tried, each with all attempts: about 5 minutes. */
const ROUNDS = 6;

/** Tells one event that always fails from an outage, where nothing else can. */
export interface AloneCount {
  /**
   * Whether the event is given up, because an operator has looked.
   * @throws {PausedError} where it is to be looked at
   */
  isGivenUp(event: Batch, detail: string): boolean;
}

/**
 * Counts how often an event failed that is alone in its request, in a process of which nothing was accepted and that
 * has no other event to ask: nothing tells it from an outage, so it is waited for, and in the end an operator decides.
 * Once another one fails as well it is an outage, which is waited for without an end.
 */
export function createAloneCount(acceptRefusals: boolean): AloneCount {
  let only: Buffer | undefined;
  let rounds = 0;
  return {
    isGivenUp({ body }, detail) {
      only ??= body;
      if (!only.equals(body)) rounds = Number.NEGATIVE_INFINITY;
      rounds += 1;
      if (rounds < ROUNDS) return false;
      if (acceptRefusals) return true;
      rounds = 0;
      const { event, uuid, properties } = JSON.parse(body.subarray(0, -1).toString('utf8')) as TargetEvent;
      throw new PausedError(
        `the destination fails on event "${event}" of "${properties.distinct_id}" (uuid ${uuid}) since some minutes (${detail}), ` +
          'and there is no event that it took before by which this could be told from an outage. ' +
          'Look at the destination, then resume once it takes events; nothing is lost. ' +
          'If it takes others, resume with --accept-refusals, which gives the event up after as many attempts',
      );
    },
  };
}
