import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf } from '../../errors.ts';
import { tooLarge } from '../errors.ts';
import { decompressLz } from './lz-string.ts';
import { malformed, noData } from './refusal.ts';

/** What a request may unfold to. */
export const MAX_DECODED_BYTES = 64 * 1024 * 1024;
const GUNZIP_CHUNK_BYTES = 256 * 1024;

const unzip = promisify(gunzip);

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

/** JSON text, and what a form said beside it. */
export interface DecodedBody {
  readonly text: string;
  readonly projectKey?: string;
  readonly sentAt?: string;
}

/**
 * Undoes every wrapping that clients of the service are known to use: a form field `data`, gzip (named by
 * header or parameter, or known by its first bytes), lz-string, base64; in that order.
 */
export async function decodeBody(body: EncodedBody): Promise<DecodedBody> {
  const plain = isGzip(body.bytes) ? await inflate(body.bytes) : body.bytes;
  // `curl -d '{…}'` says it is a form; JSON shows itself by its first character.
  const form =
    isForm(body.contentType) && !startsLikeJson(plain) ? await parseForm(plain, body.contentType) : undefined;
  const compression = body.compression ?? form?.get('compression') ?? body.contentEncoding;
  const text = form?.get('data') ?? (plain.length > 0 ? undefined : body.data);
  if (text === undefined && (form !== undefined || plain.length === 0)) throw noData();
  const projectKey = form?.get('api_key') ?? form?.get('token');
  const sentAt = form?.get('sent_at');
  return {
    text: await unwrap(text ?? decodeUtf8(plain), compression),
    ...(projectKey === undefined ? {} : { projectKey }),
    ...(sentAt === undefined ? {} : { sentAt }),
  };
}

async function unwrap(text: string, compression: string): Promise<string> {
  if (compression === 'lz64') return unpackLz(text);
  if (text === '') throw noData();
  if (/^\s*[[{]/.test(text)) return text;
  const bytes = decodeBase64(text);
  if (bytes === undefined) return text; // not JSON either: its parser says what is wrong
  return decodeUtf8(isGzip(bytes) ? await inflate(bytes) : bytes);
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
    return await unzip(bytes, { maxOutputLength: MAX_DECODED_BYTES, chunkSize: GUNZIP_CHUNK_BYTES });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(); // zlib's sign that maxOutputLength was passed
    throw malformed(`Failed to decompress data. ${messageOf(error)}`);
  }
}

const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 0x08;

const isForm = (contentType: string) =>
  /^(?:application\/x-www-form-urlencoded|multipart\/form-data)/i.test(contentType);

const startsLikeJson = (bytes: Buffer) => /^\s*[[{]/.test(bytes.toString('latin1', 0, 64));

function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Standard or URL-safe alphabet, padding optional, spaces standing for `+`; undefined when it is not base64. */
function decodeBase64(text: string): Buffer | undefined {
  const compact = text.trim().replaceAll(' ', '+');
  return /^[\w+/-]+={0,2}$/.test(compact) ? Buffer.from(compact, 'base64') : undefined;
}

async function parseForm(bytes: Buffer, contentType: string): Promise<ReadonlyMap<string, string>> {
  try {
    // The platform's reader knows both kinds of form.
    const body = new Uint8Array(bytes);
    const form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    const fields = new Map<string, string>();
    for (const [name, value] of form.entries()) {
      fields.set(
        name,
        typeof value === 'string' ? value : decodeUtf8(Buffer.from(await value.arrayBuffer())),
      );
    }
    return fields;
  } catch (error) {
    throw malformed(`Invalid form: ${messageOf(error)}`);
  }
}
