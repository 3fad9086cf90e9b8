/**
 * The result for one event of a batch. A `refused` event can never be sent as it is. `mayBeStored`: the destination always
 * failed on it and said nothing of it, so it may be there all the same.
 */
export type Delivery =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly detail: string; readonly mayBeStored?: true };

/** The serialised events of one request. */
export interface Batch {
  /** JSON texts of the events joined by commas, without brackets. */
  readonly body: Buffer;
  /** Start of each event's JSON text in `body`, and one more entry: `body.length + 1`. */
  readonly offsets: readonly number[];
}

/** Longest time from the permit of a request to its end, including the permit's travel time. A sender gives up before. */
export const REQUEST_TIMEOUT_MS = 60_000;

/** Whether anything may be sent for a migration: it may have been paused, or run by others, while this process slept. */
export interface Standing {
  /** Whether the last answer is young enough. */
  isKnown(): boolean;
  /** Asks again; throws where nothing may be sent any more. */
  assert(signal: AbortSignal): Promise<void>;
}

/** What must hold whenever a request with events of a batch goes out. */
export interface SendCondition {
  /** Of all batches that may be sent for the same reason: what was sent for one is not sent again for another. */
  readonly scope: string;
  /**
   * Resolves when a request may go out at once; what it throws ends the delivery. Asked again for each request, and
   * what it resolves to is called once the destination has answered that request, as it arrives no more then.
   */
  assert(): Promise<() => void>;
}

/**
 * Sends batches to one destination under its budget. Returns one Delivery per event, in order.
 * Throws PausedError when the operator must act (wrong key, forbidden project), UnavailableError when
 * the destination stays down beyond the retries, what the condition throws, and the signal's reason when aborted.
 */
export type Deliver = (batch: Batch, signal: AbortSignal, condition?: SendCondition) => Promise<Delivery[]>;
