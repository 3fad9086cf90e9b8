import { isUtf8 } from 'node:buffer';
import { getMessage } from '../../../lib/errors.ts';
import { gunzip } from '../../../lib/gzip.ts';
import { tooLarge } from '../../http/errors.ts';
import { decodeUtf8 } from '../../http/read-body.ts';
import { MAX_DECODED_BYTES, MAX_SMALL_TEXT } from '../limits.ts';
import { malformed, noData, unknownEncoding } from '../refusal.ts';
import { decompressLz } from './lz-string.ts';
import { decodeText, isForm, readForm } from './read-form.ts';

/** At least so much at once, whatever a sender says. */
const GUNZIP_CHUNK_BYTES = 256 * 1024;
/** How many times shorter gzip makes JSON of events: 9 times is usual. */
const MOST_PACKED = 64;
/** zlib looks for more where what it has filled the memory. */
const SPARE_BYTES = 64;

export interface EncodedBody {
  readonly bytes: Buffer;
  /** Header values, empty when missing. */
  readonly contentType: string;
  readonly contentEncoding: string;
  /** `compression` of the query. */
  readonly compression: string | undefined;
  /** `data` of the query, where there is no body. */
  readonly data: string | undefined;
}

/** How a body may be packed, as `compression` names it; clients write the same into `Content-Encoding`. */
export const PACKINGS = ['gzip', 'gzip-js', 'lz64', 'base64'] as const;
const KNOWN_ENCODINGS = new Set<string>([...PACKINGS, 'x-gzip', 'identity', '']);

/** JSON, as text or as the bytes of UTF-8 that came, and what a form had beside it. */
export interface DecodedBody {
  readonly json: string | Buffer;
  readonly projectKey?: string;
  readonly sentAt?: string;
}

/** Takes little memory, also when it is parsed. */
export const isSmall = ({ json }: DecodedBody): boolean => json.length <= MAX_SMALL_TEXT;

/**
 * From bytes to JSON. Undoes every wrapping that clients of the service use: gzip (known by its first
 * bytes, whatever the header calls it), a form field `data`, lz-string, base64 (with gzip inside or not); in
 * that order. A body in another encoding is refused by name.
 */
export async function decodeBody(body: EncodedBody): Promise<DecodedBody> {
  const encoding = body.contentEncoding.trim().toLowerCase();
  const zipped = isGzip(body.bytes);
  if (!zipped && body.bytes.length > 0 && !KNOWN_ENCODINGS.has(encoding)) {
    throw unknownEncoding(encoding, PACKINGS);
  }
  const plain = zipped ? await inflate(body.bytes) : body.bytes;
  // `curl -d '{…}'` calls JSON a form; its first character shows what it is.
  const form =
    isForm(body.contentType) && !startsLikeJson(plain) ? await readForm(plain, body.contentType) : undefined;
  const compression = body.compression ?? form?.compression ?? encoding;
  const text = form?.data ?? (plain.length > 0 ? undefined : body.data);
  if (text === undefined && (form !== undefined || plain.length === 0)) throw noData();
  const projectKey = form?.api_key ?? form?.token;
  const sentAt = form?.sent_at;
  const isPlainJson = text === undefined && compression !== 'lz64' && startsLikeJson(plain) && isUtf8(plain);
  return {
    json: isPlainJson ? plain : await unwrap(text ?? decodeText(plain), compression),
    ...(projectKey === undefined ? {} : { projectKey }),
    ...(sentAt === undefined ? {} : { sentAt }),
  };
}

async function unwrap(text: string, compression: string): Promise<string> {
  if (compression === 'lz64') return unpackLz(text);
  if (text === '') throw noData();
  if (JSON_START.test(text)) return text;
  const bytes = decodeBase64(text);
  if (bytes === undefined) return text; // not JSON either: the parser of JSON names the error
  if (isGzip(bytes)) return decodeText(await inflate(bytes));
  // Many words are valid base64: it was base64 only if the result looks like JSON.
  const decoded = decodeUtf8(bytes) ?? '';
  return JSON_START.test(decoded) ? decoded : text;
}

function unpackLz(text: string): string {
  // A form turns `+` into a space.
  const result = decompressLz(text.trim().replaceAll(' ', '+'), MAX_DECODED_BYTES);
  if (result.kind === 'text') return result.text;
  throw result.kind === 'too_large'
    ? tooLarge()
    : malformed('Failed to decompress data. The lz64 text is broken.');
}

async function inflate(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzip(bytes, { maxOutputLength: MAX_DECODED_BYTES, chunkSize: chooseChunkBytes(bytes) });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(); // how zlib reports that maxOutputLength was passed
    throw malformed(`Failed to decompress data. ${getMessage(error)}`);
  }
}

/**
 * All of it in one piece, where the sender says a length that may be true: to join pieces takes as much memory again.
 * The last four bytes of gzip are that length (https://www.rfc-editor.org/rfc/rfc1952#page-5).
 */
function chooseChunkBytes(bytes: Buffer): number {
  const length = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  const isLikely = length <= Math.min(MAX_DECODED_BYTES, bytes.length * MOST_PACKED);
  return isLikely ? Math.max(length + SPARE_BYTES, GUNZIP_CHUNK_BYTES) : GUNZIP_CHUNK_BYTES;
}

const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08;

const JSON_START = /^\s*[[{]/;
const startsLikeJson = (bytes: Buffer) => JSON_START.test(bytes.toString('latin1', 0, 64));

/** Standard or URL-safe alphabet, padding optional, spaces standing for `+`; undefined when it is not base64. */
function decodeBase64(text: string): Buffer | undefined {
  const compact = text.trim().replaceAll(' ', '+');
  return /^[\w+/-]+={0,2}$/.test(compact) ? Buffer.from(compact, 'base64') : undefined;
}
