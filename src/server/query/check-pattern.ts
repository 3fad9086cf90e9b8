import { invalidInput } from '../http/errors.ts';
import { MAX_PATTERN_CHARACTERS, MAX_PATTERN_SIZE, toPostgresPattern } from './pattern.ts';

const SHOWN_CHARACTERS = 60;

/** Refuses (400) a regular expression that cannot be searched with; `attr` is the parameter that holds it. */
export function checkPattern(pattern: string, attr: string): void {
  if (toPostgresPattern(pattern) !== undefined) return;
  const shown = pattern.length > SHOWN_CHARACTERS ? `${pattern.slice(0, SHOWN_CHARACTERS)}…` : pattern;
  throw invalidInput(
    `"${shown}" is no regular expression that can be searched with: it takes the syntax of RE2, ` +
      `${MAX_PATTERN_CHARACTERS} characters at most, and ${MAX_PATTERN_SIZE} once its repetitions are written out.`,
    attr,
  );
}
