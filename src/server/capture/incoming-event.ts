import type { ReadProperties } from './read-properties.ts';

/** One event in one shape, whatever shape it was sent in. */
export interface IncomingEvent {
  /** Lower case; of the client, else of name-events.ts. */
  readonly uuid: string;
  /** 1 to 200 characters. */
  readonly event: string;
  /** 1 to 200 characters. */
  readonly distinctId: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly timestamp: string;
  /** With top-level `$set` and `$set_once` folded in. */
  readonly properties: ReadProperties;
  /** All properties as JSON text in UTF-8. */
  readonly propertiesText: Uint8Array;
}
