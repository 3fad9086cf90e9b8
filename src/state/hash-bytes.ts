import { createHash } from 'node:crypto';

/** SHA-256 in hex. Of the stored bytes of an object, it is the checksum that receipts and descriptions note. */
export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
