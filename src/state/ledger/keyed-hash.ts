import { hash } from 'node:crypto';
import { toHashable } from '../../lib/hashable-text.ts';
import { getBucket } from '../bucket.ts';

/** Bytes of a hash: the bucket, then 88 bits of the digest; a billion ids meet by chance once in 600 million ledgers. */
export const HASH_BYTES = 12;

/**
 * Hashes of ids under the key of a ledger, so that the ledger names nobody. The first byte is the bucket of the
 * id, so that hashes in ascending order are also in the order of buckets.
 */
export interface KeyedHash {
  readonly form: HashForm;
  /** Of a distinct id. */
  id(text: string): Buffer;
  /** Of a group, by its `toGroupId`. */
  group(text: string): Buffer;
  /** Of a property; in the bucket of its subject, a hash in hexadecimal. Valid until the next call. */
  property(subject: string, field: string, key: string): Uint8Array;
}

/**
 * The hash under which the record before the last one of `hash` is kept: in its bucket, and of nothing else but by
 * chance. Valid until the next call.
 */
export function toBeforeHash(hash: Uint8Array): Uint8Array {
  beforeHash.set(hash.subarray(0, HASH_BYTES));
  beforeHash[HASH_BYTES - 1] = (beforeHash[HASH_BYTES - 1] as number) ^ 0xff;
  return beforeHash;
}

const beforeHash = new Uint8Array(HASH_BYTES);

/**
 * How the hash of a property is made. 1: of its subject and names together, in ledgers of earlier versions. 2: of
 * its names alone, once, and joined with the hash of the subject: a person has many properties, of few names. 3: as 2,
 * and properties of groups that were sent in events of another name are others. 4: as 3, in ledgers that also know of each
 * id whether any value was entered under it.
 */
export type HashForm = 1 | 2 | 3 | 4;

/** That of a ledger that is made now. Workers that do not know it fail every job about persons (jobs/catalog.ts). */
export const LEDGER_FORMAT = 4 satisfies HashForm;

export function createKeyedHash(key: string, form: HashForm = LEDGER_FORMAT): KeyedHash {
  const toHash = (bucket: number, text: string) => {
    const digest = Buffer.from(
      hash('sha256', `${key}\n${toHashable(text)}`, 'binary').slice(0, HASH_BYTES),
      'latin1',
    );
    digest[0] = bucket;
    return digest;
  };
  return {
    form,
    id: (text) => toHash(getBucket(text), `id ${text}`),
    group: (text) => toHash(getBucket(text), `group ${text}`),
    property:
      form === 1
        ? (subject, field, name) =>
            toHash(Number.parseInt(subject.slice(0, 2), 16), `property ${subject} ${field} ${name}`)
        : createJoinedHash((field, name) => toHash(0, `property ${field} ${name}`)),
  };
}

/** Names of each field whose hashes are kept; fields are few. */
const NAMES_KEPT = 10_000;

function createJoinedHash(toNameHash: (field: string, name: string) => Uint8Array): KeyedHash['property'] {
  const names = new Map<string, Map<string, Uint8Array>>();
  const joined = new Uint8Array(HASH_BYTES);
  let lastSubject = '';
  let subjectHash: Uint8Array = Buffer.alloc(HASH_BYTES);
  return (subject, field, name) => {
    if (subject !== lastSubject) {
      subjectHash = Buffer.from(subject, 'hex');
      lastSubject = subject;
    }
    let ofField = names.get(field);
    if (!ofField) {
      ofField = new Map();
      names.set(field, ofField);
    }
    let nameHash = ofField.get(name);
    if (!nameHash) {
      if (ofField.size === NAMES_KEPT) ofField.clear();
      nameHash = toNameHash(field, name);
      ofField.set(name, nameHash);
    }
    // The first byte, the bucket, is the subject's: that of a name is 0.
    for (let at = 0; at < HASH_BYTES; at += 1)
      joined[at] = (subjectHash[at] as number) ^ (nameHash[at] as number);
    return joined;
  };
}
