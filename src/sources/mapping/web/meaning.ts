import { JsonToken, STRING } from '../../../lib/json/json-token.ts';
import type { PropertyList, PropertyName } from '../../../lib/json/property-list.ts';
import { hasValue } from '../table.ts';

/**
 * What vendors write where they know nothing. `EMPTY`: https://amplitude.com/docs/data/user-properties-and-events,
 * `(not set)`: https://support.google.com/analytics/answer/13504892
 */
const NOTHING = /^(?:|EMPTY|unknown|null|undefined|\(not set\))$/i;
const LONGEST = '(not set)'.length;
const QUOTES = 2;

/** Whether a character begins one of these, in either case: most texts are told apart by it. */
const BEGINS_NOTHING = new Uint8Array(256);
for (const letter of 'EeUuNn(') BEGINS_NOTHING[letter.charCodeAt(0)] = 1;

/** Whether a field of a vendor says something. May be a value that is still text. */
export function hasMeaning(value: unknown): boolean {
  if (value instanceof JsonToken) {
    if (!value.hasValue) return false;
    if (value.kind !== STRING) return true;
    // Escapes may stand for anything, and blanks may have several bytes.
    if (value.isPlain && isClear(value.firstByte, value.lastByte, value.length - QUOTES)) return true;
    return isMeaningful(value.read() as string);
  }
  return typeof value === 'string' ? isMeaningful(value) : hasValue(value);
}

function isMeaningful(text: string): boolean {
  const { length } = text;
  if (isClear(text.charCodeAt(0), text.charCodeAt(length - 1), length)) return true;
  return !NOTHING.test(text.trim());
}

/** Whether text says something by its first and last character alone; false is not certain. */
function isClear(first: number, last: number, length: number): boolean {
  if (!(first > BLANK && first < DELETE)) return false;
  return BEGINS_NOTHING[first] === 0 || (length > LONGEST && last > BLANK && last < DELETE);
}
const BLANK = 0x20;
const DELETE = 0x7f;

/** Takes those of some properties away that say nothing. */
export function dropMeaningless(properties: PropertyList, names: readonly PropertyName[]): void {
  for (const name of names) {
    const value = properties.getText(name);
    if (value !== undefined && !hasMeaning(value)) properties.delete(name);
  }
}
