import { parseJson } from '../../lib/json/parse-json.ts';
import { isDeeperThan } from '../../lib/json/scan-json.ts';

/** A column of JSON text that is none, or nested too deep to be written again. */
export const NOT_JSON = Symbol('not JSON');

const MAX_DEPTH = 200;

export function parseJsonCell(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) return NOT_JSON;
  try {
    return parseJson(text);
  } catch {
    return NOT_JSON;
  }
}
