import { type EncodedBody, PACKINGS } from '../../capture/request/decode.ts';
import type { DecideVersion } from './response.ts';

/** Longer questions are not asked twice as a rule. */
const MAX_BYTES = 4096;

/** All that an answer depends on beside what is stored; `address`: where the person is. */
export type Question = EncodedBody & {
  readonly version: DecideVersion;
  readonly address: string | undefined;
};

/**
 * A text that only the same question has: headers have no line breaks, and the rest is one of a few words.
 * Undefined where there is no such text.
 */
export function toQuestionKey(question: Question): string | undefined {
  const { bytes, contentType, contentEncoding, compression, data, version, address } = question;
  if (bytes.length === 0 || bytes.length > MAX_BYTES) return undefined;
  // It is read where the body unpacks to nothing, which only unpacking tells.
  if (data !== undefined) return undefined;
  if (compression !== undefined && !PACKINGS.some((packing) => packing === compression)) return undefined;
  const head = [version, contentType, contentEncoding, compression, address];
  return `${head.join('\n')}\n${bytes.toString('latin1')}`;
}
