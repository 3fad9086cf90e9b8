import { hash } from 'node:crypto';
import { toHashable } from '../../lib/hashable-text.ts';
import { getBucket } from '../bucket.ts';
import type { NameHash, PropertyName } from '../facts/property-names.ts';

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
  /** The same for one property after the other, as words. */
  field(field: string): FieldHash;
}

/**
 * The hash under which the record before the last one of `hash` is kept: in its bucket, and of nothing else but by
 * chance. Valid until the next call.
 */
export function toBeforeHash(hash: Uint8Array): Uint8Array {
  beforeHash.set(hash.subarray(0, HASH_BYTES));
  beforeHash[HASH_BYTES - 1] = (beforeHash[HASH_BYTES - 1] as number) ^ BEFORE;
  return beforeHash;
}

const beforeHash = new Uint8Array(HASH_BYTES);
const BEFORE = 0xff;

/** A hash as the words of its bytes, which are asked for again and again: there is one, and it changes. */
export class HashWords {
  a = 0;
  b = 0;
  c = 0;

  read(bytes: Uint8Array, at: number): this {
    this.a = readWord(bytes, at);
    this.b = readWord(bytes, at + 4);
    this.c = readWord(bytes, at + 8);
    return this;
  }

  /** As toBeforeHash. */
  setBefore({ a, b, c }: HashWords): this {
    this.a = a;
    this.b = b;
    this.c = c ^ BEFORE;
    return this;
  }
}

const readWord = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) |
  ((bytes[at + 1] as number) << 16) |
  ((bytes[at + 2] as number) << 8) |
  (bytes[at + 3] as number);

/** The hash of a person or group, of which one property after the other is looked for. */
export class Subject extends HashWords {
  /** @param of In hexadecimal. */
  constructor(of: string) {
    super();
    this.a = readHex(of, 0);
    this.b = readHex(of, 8);
    this.c = readHex(of, 16);
  }

  get bucket(): number {
    return this.a >>> 24;
  }

  /** As it was given. What is kept of a person is words, as that text is a piece of a longer one. */
  get of(): string {
    return [this.a, this.b, this.c].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

/** A word of eight digits. */
function readHex(text: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at += 1) {
    const code = text.charCodeAt(at);
    word = (word << 4) | ((code & 0xf) + (code >> 6) * 9);
  }
  return word;
}

/** Hashes properties of one field. */
export interface FieldHash {
  put(into: HashWords, subject: Subject, name: PropertyName): void;
}

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
  const toIdHash = createHash(key, 'id');
  const toGroupHash = createHash(key, 'group');
  const toPropertyHash = createHash(key, 'property');
  const toProperty = (subject: string, field: string, name: string) =>
    toPropertyHash(Number.parseInt(subject.slice(0, 2), 16), `${subject} ${field} ${name}`);
  return {
    form,
    id: (text) => toIdHash(getBucket(text), text),
    group: (text) => toGroupHash(getBucket(text), text),
    ...(form === 1
      ? {
          property: toProperty,
          field: (field): FieldHash => ({
            put: (into, { of }, { key: name }) => into.read(toProperty(of, field, name), 0),
          }),
        }
      : createJoinedHash((field, name) => toPropertyHash(0, `${field} ${name}`))),
  };
}

/** Of texts of one kind, with the bucket in place of the first byte. */
function createHash(key: string, kind: string): (bucket: number, text: string) => Buffer {
  // Most texts are hashed as they are: see toHashable. Each piece that is put together costs as much as a short text.
  const start = `${key}\n${kind} `;
  return (bucket, text) => {
    const hashed = text.isWellFormed() ? `${start}${text}` : `${key}\n${toHashable(`${kind} ${text}`)}`;
    const digest = hash('sha256', hashed, 'binary');
    const bytes = Buffer.allocUnsafe(HASH_BYTES);
    bytes[0] = bucket;
    // Of so few bytes, without what `Buffer.from` asks of a text.
    for (let at = 1; at < HASH_BYTES; at += 1) bytes[at] = digest.charCodeAt(at);
    return bytes;
  };
}

/** Names of each field whose hashes are kept; fields are few. */
const NAMES_KEPT = 10_000;

function createJoinedHash(
  toNameHash: (field: string, name: string) => Uint8Array,
): Pick<KeyedHash, 'property' | 'field'> {
  const fields = new Map<string, JoinedField>();
  const open = (field: string): JoinedField => {
    let known = fields.get(field);
    if (!known) {
      known = new JoinedField((name) => toNameHash(field, name));
      fields.set(field, known);
    }
    return known;
  };
  const joined = Buffer.alloc(HASH_BYTES);
  let lastSubject = '';
  let subjectHash: Uint8Array = Buffer.alloc(HASH_BYTES);
  return {
    property: (subject, field, name) => {
      if (subject !== lastSubject) {
        subjectHash = Buffer.from(subject, 'hex');
        lastSubject = subject;
      }
      const nameHash = open(field).hashName(name);
      // The first byte, the bucket, is the subject's: that of a name is 0.
      for (let at = 0; at < HASH_BYTES; at += 1)
        joined[at] = (subjectHash[at] as number) ^ (nameHash[at] as number);
      return joined;
    },
    field: open,
  };
}

class JoinedField implements FieldHash {
  readonly #toHash: (name: string) => Uint8Array;
  /** For who has names as text. */
  readonly #names = new Map<string, Uint8Array>();
  /** In place of the field in what a name keeps, which outlives the field. */
  readonly #token = {};

  constructor(toHash: (name: string) => Uint8Array) {
    this.#toHash = toHash;
  }

  hashName(name: string): Uint8Array {
    let known = this.#names.get(name);
    if (!known) {
      if (this.#names.size === NAMES_KEPT) this.#names.clear();
      known = this.#toHash(name);
      this.#names.set(name, known);
    }
    return known;
  }

  put(into: HashWords, subject: Subject, name: PropertyName): void {
    const { a, b, c } = this.#find(name);
    into.a = subject.a ^ a;
    into.b = subject.b ^ b;
    into.c = subject.c ^ c;
  }

  /** A name keeps its hashes in the few fields of the ledgers that were used last. */
  #find(name: PropertyName): NameHash {
    for (const hash of name.hashes) if (hash.of === this.#token) return hash;
    const { a, b, c } = new HashWords().read(this.#toHash(name.key), 0);
    const hash = { of: this.#token, a, b, c };
    name.hashes = [hash, ...name.hashes].slice(0, HASHES_KEPT);
    return hash;
  }
}

/** Of one name: what is set, set once, and of groups under each name of their event. */
const HASHES_KEPT = 6;
