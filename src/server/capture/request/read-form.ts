import { getMessage } from '../../../lib/errors.ts';
import { tooLarge } from '../../http/errors.ts';
import { decodeForm, decodeUtf8 } from '../../http/read-body.ts';
import { MAX_MULTIPART_BYTES } from '../limits.ts';
import { malformed } from '../refusal.ts';

/** The fields that ingestion reads. Others are skipped undecoded, as a form may have millions. */
const FIELDS = ['data', 'compression', 'api_key', 'token', 'sent_at'] as const;

export type FormFields = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

const MULTIPART = /^multipart\/form-data/i;

export const isForm = (contentType: string) =>
  /^application\/x-www-form-urlencoded/i.test(contentType) || MULTIPART.test(contentType);

/** A form of either kind. Of a field that comes several times, the last one counts. */
export async function readForm(bytes: Buffer, contentType: string): Promise<FormFields> {
  return MULTIPART.test(contentType) ? readMultipart(bytes, contentType) : readUrlEncoded(decodeText(bytes));
}

function readUrlEncoded(text: string): FormFields {
  const fields: Partial<Record<string, string>> = {};
  for (let start = 0; start < text.length; ) {
    const separator = text.indexOf('&', start);
    const end = separator === -1 ? text.length : separator;
    const name = FIELDS.find((field) => text.startsWith(`${field}=`, start));
    if (name !== undefined) fields[name] = text.slice(start, end);
    start = end + 1;
  }
  for (const name of FIELDS) {
    const field = fields[name];
    if (field !== undefined) fields[name] = new URLSearchParams(field).get(name) ?? '';
  }
  return fields;
}

async function readMultipart(bytes: Buffer, contentType: string): Promise<FormFields> {
  if (bytes.length > MAX_MULTIPART_BYTES) throw tooLarge();
  const form = await parseMultipart(bytes, contentType);
  const fields: Partial<Record<string, string>> = {};
  for (const name of FIELDS) {
    const value = form.getAll(name).at(-1);
    if (value === undefined || value === null) continue;
    fields[name] = typeof value === 'string' ? value : decodeText(Buffer.from(await value.arrayBuffer()));
  }
  return fields;
}

async function parseMultipart(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    return await decodeForm(bytes, contentType);
  } catch (error) {
    throw malformed(`Invalid form: ${getMessage(error)}`);
  }
}

/** Text of a body or of a part of it; refused when it is not UTF-8. */
export function decodeText(bytes: Buffer): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw malformed('The body is not UTF-8.');
  return text;
}
