import { hash } from 'node:crypto';
import { getBucket } from '../bucket.ts';

/** Bytes of a hash: the bucket, then 88 bits of the digest; a billion ids meet by chance once in 600 million ledgers. */
export const HASH_BYTES = 12;

/**
 * Hashes of ids under the key of a ledger, so that the ledger names nobody. The first byte is the bucket of the
 * id, so that hashes in ascending order are also in the order of buckets.
 */
export interface KeyedHash {
  /** Of a distinct id. */
  id(text: string): Buffer;
  /** Of a group, by its `toGroupId`. */
  group(text: string): Buffer;
  /** Of a property; in the bucket of its subject, a hash in hexadecimal. */
  property(subject: string, field: string, key: string): Buffer;
}

export function createKeyedHash(key: string): KeyedHash {
  const toHash = (bucket: number, text: string) => {
    const digest = hash('sha256', `${key}\n${text}`, 'buffer').subarray(0, HASH_BYTES);
    digest[0] = bucket;
    return digest;
  };
  return {
    id: (text) => toHash(getBucket(text), `id ${text}`),
    group: (text) => toHash(getBucket(text), `group ${text}`),
    property: (subject, field, name) =>
      toHash(Number.parseInt(subject.slice(0, 2), 16), `property ${subject} ${field} ${name}`),
  };
}
