import type { Context } from 'hono';
import { getMessage } from '../../lib/errors.ts';
import { parseError, unsupportedEncoding, unsupportedMediaType } from './errors.ts';
import { decodeForm, decodeUtf8, readBody } from './read-body.ts';
import { isStorable, parseSafely, UNSTORABLE_TEXT } from './safe-json.ts';

/** More than any document of the contract needs. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_FORM_FIELDS = 1000;

const parsed = new WeakMap<Request, Promise<unknown>>();

/**
 * The body of a request below `/api/`: JSON with every digit kept, or a form as an object of texts. A request
 * without a body has an empty object. The body is read once, however often this is called.
 */
export function readRequestBody(c: Context): Promise<unknown> {
  const request = c.req.raw;
  const known = parsed.get(request);
  if (known !== undefined) return known;
  const body = parseBody(c);
  parsed.set(request, body);
  return body;
}

async function parseBody(c: Context): Promise<unknown> {
  const bytes = await readBody(c, MAX_BODY_BYTES);
  const request = c.req.raw;
  if (bytes.length === 0) return {};
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') throw unsupportedEncoding(encoding.slice(0, 200));
  const contentType = request.headers.get('content-type') ?? 'application/json';
  const kind = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (kind === 'application/json') return parseJsonBody(bytes);
  if (kind === 'application/x-www-form-urlencoded' || kind === 'multipart/form-data') {
    return parseForm(bytes, contentType);
  }
  throw unsupportedMediaType(contentType.slice(0, 200));
}

function parseJsonBody(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw parseError('the body is not UTF-8');
  try {
    return parseSafely(text);
  } catch (error) {
    throw parseError(getMessage(error));
  }
}

async function parseForm(bytes: Buffer, contentType: string): Promise<unknown> {
  try {
    const form = await decodeForm(bytes, contentType);
    const fields = [...form.entries()].filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    );
    if (fields.length > MAX_FORM_FIELDS) throw new Error(`more than ${MAX_FORM_FIELDS} fields`);
    if (!fields.flat().every(isStorable)) throw new Error(UNSTORABLE_TEXT);
    return Object.fromEntries(fields);
  } catch (error) {
    throw parseError(`the form cannot be read: ${getMessage(error)}`);
  }
}
