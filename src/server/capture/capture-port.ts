import type { Queryable } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';

/** An event that a request of the API brings about; it happens now. */
export interface CapturedEvent {
  readonly event: string;
  readonly distinctId: string;
  /** Numbers may be ExactNumbers. */
  readonly properties: JsonObject;
}

/**
 * Takes an event in within the caller's transaction: stored like one that a client sent, with all that
 * ingestion makes of it. Refuses (400) what a client could not send either. app.ts makes one
 * (`createCapture` in ingest/capture.ts) and hands it in, so that persons have one writer and no room
 * imports another.
 */
export type Capture = (tx: Queryable, projectId: number, event: CapturedEvent) => Promise<void>;
