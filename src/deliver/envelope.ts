/**
 * The JSON around the events of a request. Every request sets `historical_migration: true`; `sent_at` is never
 * sent, because the service would shift every timestamp by it (I8).
 */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Reserved in every batch for the envelope, whatever the key. */
export const ENVELOPE_BYTES = 512;

export const renderEnvelope = (apiKey: string): Envelope => ({
  head: Buffer.from(`{"api_key":${JSON.stringify(apiKey)},"historical_migration":true,"batch":[`),
  tail: Buffer.from(']}'),
});
