import { messageOf } from '../../errors.ts';
import { ApiError } from '../errors.ts';
import type { JsonDocument } from '../json.ts';
import { parseSafely } from '../safe-json.ts';
import { malformed } from './refusal.ts';

/** The JSON of a request, safe to store. */
export function parsePayload(text: string): JsonDocument {
  try {
    return parseSafely(text);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw malformed(`Invalid JSON: ${messageOf(error)}`);
  }
}
