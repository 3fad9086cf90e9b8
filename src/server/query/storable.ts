import { invalidInput } from '../http/errors.ts';
import { isStorable, UNSTORABLE_TEXT } from '../http/safe-json.ts';

/** A text that a parameter of a statement may hold; refuses any other. */
export function storable(text: string, attr: string): string {
  if (isStorable(text)) return text;
  throw invalidInput(`A filter is ${UNSTORABLE_TEXT}.`, attr);
}
