import { createHash } from 'node:crypto';

/** The digest of an object, as receipts note it: SHA-256 of its stored bytes, in hex. */
export const hashObject = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');
