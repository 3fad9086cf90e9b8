import { MARK, stringifyMarked } from './exact-number.ts';

/** A quoted number with its mark, as JSON.stringify has written it. */
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** JSON.stringify that writes an ExactNumber as its digits, and undefined as null. */
export function stringifyJson(value: unknown): string {
  const { text = 'null', marked } = stringifyMarked(value);
  return marked ? text.replace(MARKED, '$1') : text;
}
