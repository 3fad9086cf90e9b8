import { getMessage } from '../../../lib/errors.ts';
import { ApiError } from '../../http/errors.ts';
import { parseSafely } from '../../http/safe-json.ts';
import { malformed } from '../refusal.ts';

/** The JSON of a request, safe to store. */
export function parsePayload(text: string): unknown {
  try {
    return parseSafely(text);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw malformed(`Invalid JSON: ${getMessage(error)}`);
  }
}
