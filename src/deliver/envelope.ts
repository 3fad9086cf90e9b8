/**
 * What surrounds the events of a request. Every migration request says `historical_migration: true`;
 * `sent_at` is never sent, as it would shift every timestamp (I8).
 */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Kept free in every batch for the envelope, whatever the key. */
export const ENVELOPE_BYTES = 512;

export const renderEnvelope = (apiKey: string): Envelope => ({
  head: Buffer.from(`{"api_key":${JSON.stringify(apiKey)},"historical_migration":true,"batch":[`),
  tail: Buffer.from(']}'),
});
