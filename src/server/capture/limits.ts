/** What a request to the ingestion endpoints may weigh. A client that meets one sends smaller requests. */

/** Size of a body as it travels, compressed or not. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;
/** What it may unfold to: as much as a body that is not compressed. */
export const MAX_DECODED_BYTES = MAX_BODY_BYTES;
/** Multipart forms are slow to read, and no client sends large ones. */
export const MAX_MULTIPART_BYTES = 4 * 1024 * 1024;
export const MAX_EVENTS = 50_000;
/** Properties of one event as JSON text. */
export const MAX_EVENT_CHARACTERS = 1024 * 1024;
/**
 * Properties of a person or a group, all together, as Postgres writes them. A change that would pass it
 * is left out with a warning, as https://posthog.com/docs/product-analytics/person-properties tells. Of
 * two persons who are merged the survivor's stay, and of the other's as many as fit are taken over, the
 * smallest first, with a warning that counts the rest (fit-profile.ts).
 */
export const MAX_PROFILE_CHARACTERS = 512 * 1024;

/** Bodies of all requests together while they arrive and wait; more is turned away for now. */
export const MAX_HELD_BYTES = 256 * 1024 * 1024;
/** Requests being decoded, parsed and stored. Events unfold to many times their text; the rest wait. */
export const MAX_AT_WORK = 4;
