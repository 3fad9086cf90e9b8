import { isUtf8 } from 'node:buffer';
import { malformed } from '../refusal.ts';

/** Text of a body, without the mark that some editors put in front. */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
