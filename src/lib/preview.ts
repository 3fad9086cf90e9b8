import { escapeControls } from './errors.ts';
import { isExactNumber } from './json/exact-number.ts';

const SHOWN_LENGTH = 60;

/** A value as a reject's detail shows it: short, and never a whole document. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > SHOWN_LENGTH
      ? `${JSON.stringify(value.slice(0, SHOWN_LENGTH))}… (${value.length} characters)`
      : JSON.stringify(value);
  }
  if (isExactNumber(value)) return shown(value.digits).slice(1, -1);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** At most so many characters, the last then an ellipsis. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  // A character takes two units at most: enough for one too many, however long the text is.
  const characters = Array.from(text.slice(0, 2 * length + 2));
  if (characters.length <= length) return text;
  const kept = characters.slice(0, length - 1).join('');
  return `${kept.trimEnd()}…`;
}

/** Quoted, short and on one line. */
export const quoteName = (name: string, length: number): string =>
  `"${escapeControls(shorten(name, length)).replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
