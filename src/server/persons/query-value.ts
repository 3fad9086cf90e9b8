import { getMessage } from '../../lib/errors.ts';
import { isExactNumber } from '../../lib/json/exact-number.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { parseError } from '../http/errors.ts';
import { isStorableNumber, parseSafely } from '../http/safe-json.ts';

/**
 * A property's value from the text of a query: JSON, as the service's document allows any value there;
 * what is not JSON is text as it stands. Quotes make a text of what would be a number.
 */
export function readQueryValue(text: string | undefined): unknown {
  if (text === undefined || !isJson(text)) return text;
  try {
    return parseSafely(text);
  } catch (error) {
    throw parseError(getMessage(error));
  }
}

/** In the strict sense: `NaN`, which bodies may hold for null, is a text here, and so is `12e4567`. */
function isJson(text: string): boolean {
  try {
    const value = parseJson(text);
    return !isExactNumber(value) || isStorableNumber(value);
  } catch {
    return false;
  }
}
