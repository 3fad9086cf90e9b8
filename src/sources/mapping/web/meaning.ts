import { JsonToken, STRING } from '../../../lib/json/json-token.ts';
import type { PropertyList, PropertyName } from '../../../lib/json/property-list.ts';
import { hasValue } from '../table.ts';

/**
 * What vendors write where they know nothing. `EMPTY`: https://amplitude.com/docs/data/user-properties-and-events,
 * `(not set)`: https://support.google.com/analytics/answer/13504892
 */
const NOTHING = /^(?:|EMPTY|unknown|null|undefined|\(not set\))$/i;
const LONGEST = '"(not set)"'.length;

/** Whether a field of a vendor says something. May be a value that is still text. */
export function hasMeaning(value: unknown): boolean {
  if (value instanceof JsonToken) {
    if (!value.hasValue) return false;
    if (value.kind !== STRING) return true;
    const { length } = value;
    // Blanks may be many; text that begins with one is looked at.
    if (length > LONGEST && !value.startsWithBlank) return true;
    return isMeaningful(value.read() as string);
  }
  return typeof value === 'string' ? isMeaningful(value) : hasValue(value);
}

function isMeaningful(text: string): boolean {
  if (text.length > LONGEST && text.charCodeAt(0) > BLANK) return true;
  return !NOTHING.test(text.trim());
}
const BLANK = 32;

/** Takes those of some properties away that say nothing. */
export function dropMeaningless(properties: PropertyList, names: readonly PropertyName[]): void {
  for (const name of names) {
    const value = properties.getText(name);
    if (value !== undefined && !hasMeaning(value)) properties.delete(name);
  }
}
