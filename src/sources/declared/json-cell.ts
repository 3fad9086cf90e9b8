import { isExactNumber } from '../../lib/json/exact-number.ts';
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

const MAX_WRAPS = 3;

/** The object or list that a text of JSON stands for, also where it was written as text again; undefined for any other. */
export function openJsonText(text: string): unknown {
  let value: unknown = text;
  for (let wraps = 0; typeof value === 'string' && wraps < MAX_WRAPS; wraps += 1)
    value = parseJsonCell(value);
  return typeof value === 'object' && value !== null && !isExactNumber(value) ? value : undefined;
}
