/** Limits of a request to the ingestion endpoints. A client that reaches one has to send smaller requests. */

/** Size of a body as it travels, compressed or not. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;
/** Size after decompression: the same as for a body that is not compressed. */
export const MAX_DECODED_BYTES = 20 * 1024 * 1024;
/** Multipart forms are slow to read, and no client sends large ones. */
export const MAX_MULTIPART_BYTES = 4 * 1024 * 1024;
export const MAX_EVENTS = 50_000;
/** Properties of one event as JSON text. */
export const MAX_EVENT_CHARACTERS = 1024 * 1024;
/**
 * All properties of a person or a group, as Postgres writes them. The changes of an event that would exceed it are
 * dropped with a warning, and those of other events are not (see https://posthog.com/docs/product-analytics/person-properties). When two persons are
 * merged, the survivor's properties stay, and as many of the other's as fit are taken over, the smallest
 * first, with a warning that counts the rest (ingest/fit-profile.ts).
 */
export const MAX_PROFILE_CHARACTERS = 512 * 1024;

/** Bodies of all requests together while they arrive and wait; beyond it requests get a 429. */
export const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Requests being decoded, and large ones being parsed and stored; the rest wait. Parsed events take many times their text. */
export const MAX_AT_WORK = 4;
/** A request of so much text is small (bytes, or characters of what was packed); small ones share transactions. */
export const MAX_SMALL_TEXT = 64 * 1024;
export const MAX_SMALL_AT_WORK = 64;
