/**
 * Arrays as parameters in PostgreSQL's binary format. Text of JSON is full of quotes, which the text format
 * escapes one by one and the server takes apart again; in binary it is copied. With them one
 * `select … from unnest(…)` inserts a thousand rows.
 *
 * An array is its number of dimensions, whether it has nulls, the type of its elements, its length and its
 * lower bound, and then each element behind its length (-1: null); numbers are big-endian.
 */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

const BOOLEAN = 16;
const INTEGER = 23;
const UUID = 2950;
const TEXT = 25;
const TIMESTAMPTZ = 1184;
const JSONB = 3802;

const BOOLEAN_BYTES = 1;
const INTEGER_BYTES = 4;
const UUID_BYTES = 16;
const TIME_BYTES = 8;
const JSONB_VERSION = 1;

/** PostgreSQL counts microseconds from here. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** `uuid[]` of UUIDs in hexadecimal with hyphens. */
export function toUuidArray(uuids: readonly (string | undefined)[]): Uint8Array {
  const { bytes, view } = createArray(UUID, uuids.length, uuids.length * UUID_BYTES);
  let at = HEADER_BYTES;
  for (const uuid of uuids) {
    view.setInt32(at, uuid === undefined ? NULL_LENGTH : UUID_BYTES);
    at += LENGTH_BYTES;
    if (uuid !== undefined) at = writeUuid(bytes, at, uuid);
  }
  return bytes.subarray(0, at);
}

/** Returns where the next one goes. */
function writeUuid(bytes: Uint8Array, start: number, uuid: string): number {
  let at = start;
  let index = 0;
  while (index < uuid.length) {
    if (uuid[index] === '-') index += 1;
    bytes[at] = (toDigit(uuid.charCodeAt(index)) << 4) | toDigit(uuid.charCodeAt(index + 1));
    at += 1;
    index += 2;
  }
  return at;
}

/** The last four bits of `0` to `9` are the digit; those of letters, `a` to `f` or `A` to `F`, lack nine. */
const toDigit = (code: number): number => (code & 0xf) + (code >> 6) * 9;

/** `integer[]`. */
export function toIntegerArray(numbers: readonly (number | undefined)[]): Uint8Array {
  const { bytes, view } = createArray(INTEGER, numbers.length, numbers.length * INTEGER_BYTES);
  let at = HEADER_BYTES;
  for (const number of numbers) {
    view.setInt32(at, number === undefined ? NULL_LENGTH : INTEGER_BYTES);
    at += LENGTH_BYTES;
    if (number === undefined) continue;
    view.setInt32(at, number);
    at += INTEGER_BYTES;
  }
  return bytes.subarray(0, at);
}

/** `boolean[]`. */
export function toBooleanArray(values: readonly boolean[]): Uint8Array {
  const { bytes, view } = createArray(BOOLEAN, values.length, values.length * BOOLEAN_BYTES);
  let at = HEADER_BYTES;
  for (const value of values) {
    view.setInt32(at, BOOLEAN_BYTES);
    view.setUint8(at + LENGTH_BYTES, value ? 1 : 0);
    at += LENGTH_BYTES + BOOLEAN_BYTES;
  }
  return bytes;
}

/** `text[]`. */
export function toTextArray(texts: readonly string[]): Uint8Array {
  let size = 0;
  for (const text of texts) size += Buffer.byteLength(text);
  const { bytes, view } = createArray(TEXT, texts.length, size);
  let at = HEADER_BYTES;
  for (const text of texts) {
    const length = bytes.write(text, at + LENGTH_BYTES);
    view.setInt32(at, length);
    at += LENGTH_BYTES + length;
  }
  return bytes;
}

/** `timestamptz[]` of times in ISO 8601. */
export function toTimeArray(times: readonly string[]): Uint8Array {
  const { bytes, view } = createArray(TIMESTAMPTZ, times.length, times.length * TIME_BYTES);
  let at = HEADER_BYTES;
  for (const time of times) {
    view.setInt32(at, TIME_BYTES);
    view.setBigInt64(at + LENGTH_BYTES, BigInt(Date.parse(time) - EPOCH_MS) * 1000n);
    at += LENGTH_BYTES + TIME_BYTES;
  }
  return bytes;
}

/** `jsonb[]` of JSON texts in UTF-8. */
export function toJsonArray(texts: readonly Uint8Array[]): Uint8Array {
  let size = texts.length;
  for (const text of texts) size += text.length;
  const { bytes, view } = createArray(JSONB, texts.length, size);
  let at = HEADER_BYTES;
  for (const text of texts) {
    view.setInt32(at, text.length + 1);
    view.setUint8(at + LENGTH_BYTES, JSONB_VERSION);
    bytes.set(text, at + LENGTH_BYTES + 1);
    at += LENGTH_BYTES + 1 + text.length;
  }
  return bytes;
}

function createArray(type: number, count: number, contentBytes: number) {
  // Memory of its own, not of a pool: it is handed over to the thread of the embedded database.
  const memory = new ArrayBuffer(HEADER_BYTES + count * LENGTH_BYTES + contentBytes);
  const bytes = Buffer.from(memory);
  const view = new DataView(memory);
  view.setInt32(0, 1);
  view.setInt32(4, 1); // may have nulls
  view.setInt32(8, type);
  view.setInt32(12, count);
  view.setInt32(16, 1);
  return { bytes, view };
}
