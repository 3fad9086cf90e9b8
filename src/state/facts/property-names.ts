import { TextBuffer } from '../../lib/text-buffer.ts';

/** The hash of a name in one field of a ledger, as words: see FieldHash. */
export interface NameHash {
  /** Which field of which ledger. */
  readonly of: object;
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** Of one key there is one name at a time; see `limitNames`. */
export class PropertyName {
  readonly key: string;
  /** Its JSON text in front of a value, with the colon. */
  readonly label: Uint8Array;
  /** Found once for each field of a ledger, by whoever hashes it. */
  hashes: readonly NameHash[] = NO_HASHES;
  /** The subject of which a property of this name goes before one that is set once; a number, as a reference costs more. */
  takenOf = 0;
  /** The two names that were behind it lately: of what is set, and of what is set once. */
  next: PropertyName | undefined;
  nextBefore: PropertyName | undefined;
  /** The next one of its chain. */
  readonly sibling: PropertyName | undefined;

  constructor(key: string, label: Uint8Array, sibling?: PropertyName) {
    this.key = key;
    this.label = label;
    this.sibling = sibling;
  }
}

const NO_HASHES: readonly NameHash[] = [];

/** Of marks that are kept of a subject as if they were properties. */
export const NO_NAME = new PropertyName('', new Uint8Array(0));

/** In front of the first name of every snapshot. */
export const FIRST = new PropertyName('', new Uint8Array(0));

/** The names that are known, by the hash of their labels. */
const chains: (PropertyName | undefined)[] = new Array(4096).fill(undefined);
let bytesKnown = 0;
let forgotten = 0;
const MOST_BYTES = 2 * 1024 * 1024;
/** Of a name beside its label. */
const NAME_BYTES = 200;

/**
 * Forgets all names once they are too many, as ids that are used as names may be any number, and returns how often it
 * did. Called in front of each subject: names from before must not be compared with those that are found from then on,
 * nor kept.
 */
export function limitNames(): number {
  if (bytesKnown <= MOST_BYTES) return forgotten;
  chains.fill(undefined);
  FIRST.next = undefined;
  FIRST.nextBefore = undefined;
  bytesKnown = 0;
  forgotten += 1;
  return forgotten;
}

/**
 * The name at `start`, whose string ends before `stop`. `after`: the one in front of it, as persons of one project mostly
 * have the same properties.
 */
export function findName(bytes: Buffer, start: number, stop: number, after: PropertyName): PropertyName {
  const { next, nextBefore } = after;
  if (next !== undefined && isAt(next.label, bytes, start)) return next;
  if (nextBefore !== undefined && isAt(nextBefore.label, bytes, start)) return nextBefore;
  const name = lookUp(bytes, start, stop);
  after.nextBefore = next;
  after.next = name;
  return name;
}

const written = new TextBuffer(256);

export function getName(key: string): PropertyName {
  written.end = 0;
  written.writeString(key);
  written.write(':');
  return lookUp(written.bytes, 0, written.end);
}

function lookUp(bytes: Buffer, start: number, stop: number): PropertyName {
  let hash = 0;
  let isPlain = true;
  let end = start + 1;
  for (let code = bytes[end] as number; code !== QUOTE; code = bytes[end] as number) {
    if (code === BACKSLASH) {
      hash = Math.imul(hash ^ BACKSLASH, PRIME);
      end += 1;
    }
    if (code === BACKSLASH || code > 0x7e) isPlain = false;
    hash = Math.imul(hash ^ (bytes[end] as number), PRIME);
    end += 1;
    if (end >= stop) throw new Error('a string without an end');
  }
  const chain = (hash ^ (hash >>> 15)) & (chains.length - 1);
  const length = end + 2 - start;
  for (let name = chains[chain]; name !== undefined; name = name.sibling)
    if (name.label.length === length && isAt(name.label, bytes, start)) return name;
  const key = isPlain
    ? bytes.toString('latin1', start + 1, end)
    : parseKey(bytes.toString('utf8', start, end + 1));
  const name = new PropertyName(key, new Uint8Array(bytes.subarray(start, end + 2)), chains[chain]);
  chains[chain] = name;
  bytesKnown += length + NAME_BYTES;
  return name;
}

function parseKey(text: string): string {
  const key = JSON.parse(text) as string;
  // Rows go by the length of the label.
  if (JSON.stringify(key) !== text) throw new Error('a name that is not as it was written');
  return key;
}

function isAt(label: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < label.length; at += 1) if (label[at] !== bytes[start + at]) return false;
  return true;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const PRIME = 0x01000193;
