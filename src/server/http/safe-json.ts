import { tooLarge } from './errors.ts';
import { isJsonObject, type JsonDocument, parseJson } from './json.ts';
import { countContainers, replaceNotNumbers } from './scan-json.ts';

/** Containers inside containers. Postgres and JSON.stringify recurse, and real documents stay below ten. */
const MAX_DEPTH = 100;

/**
 * Objects and lists in one document. An empty one is two characters of text and a hundred times that in
 * memory; a text below the size at which they are counted cannot hold too many.
 */
export const MAX_CONTAINERS = 500_000;
const COUNTED_CHARACTERS = 4 * 1024 * 1024;

/** Characters of a key. What grows out of data by mistake, such as a text for a key, is longer. */
export const MAX_KEY_CHARACTERS = 1000;

/** NUL, and half of a surrogate pair: with the `u` flag, the class matches one only where it stands alone. */
const UNSTORABLE = /[\0\ud800-\udfff]/u;
/** Escapes that bring such a character into JSON. */
const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

/** Whether Postgres has a place for a text. */
export const isStorable = (text: string): boolean => !UNSTORABLE.test(text);

export const UNSTORABLE_TEXT = 'text with a NUL character or half a surrogate pair, which cannot be stored';

/**
 * JSON from a stranger, safe to store: bounded in depth, number and length of keys, without characters that
 * Postgres has no place for. Nothing is changed on the way: throws SyntaxError, whose message the sender may
 * see, or the refusal of what is too large.
 */
export function parseSafely(text: string): JsonDocument {
  if (text.length > COUNTED_CHARACTERS && countContainers(text) > MAX_CONTAINERS) throw tooLarge();
  const document = parseTolerantly(text);
  check(document.value, SUSPECT_ESCAPE.test(text) || !text.isWellFormed(), 0);
  return document;
}

function parseTolerantly(text: string): JsonDocument {
  try {
    return parseJson(text);
  } catch (error) {
    const repaired = replaceNotNumbers(text);
    try {
      if (repaired !== text) return parseJson(repaired);
    } catch {
      // The first message names the first problem.
    }
    if (error instanceof RangeError) throw new SyntaxError('nested too deeply');
    throw error;
  }
}

/** Texts are looked at only where `suspect`. */
function check(value: unknown, suspect: boolean, depth: number): void {
  if (typeof value === 'string') checkText(value, suspect);
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw new SyntaxError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    for (const item of value) check(item, suspect, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return; // a LosslessNumber
  for (const key in value) {
    if (key.length > MAX_KEY_CHARACTERS) {
      throw new SyntaxError(`a key of more than ${MAX_KEY_CHARACTERS} characters (${key.slice(0, 40)}…)`);
    }
    checkText(key, suspect);
    check(value[key], suspect, depth + 1);
  }
}

function checkText(text: string, suspect: boolean): void {
  if (suspect && !isStorable(text)) throw new SyntaxError(UNSTORABLE_TEXT);
}
