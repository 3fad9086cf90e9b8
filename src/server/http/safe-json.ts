import { type ExactNumber, isExactNumber } from '../../lib/json/exact-number.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { countContainers, replaceNotNumbers } from '../../lib/json/scan-json.ts';
import { tooLarge } from './errors.ts';
import { isJsonObject, MAX_EXPONENT } from './json.ts';

/** Containers inside containers. PostgreSQL and JSON.stringify recurse, and real documents stay below ten. */
const MAX_DEPTH = 100;

/**
 * Objects and lists in one document. An empty one is two characters of text and a hundred times that in
 * memory; a text below the size at which they are counted cannot contain too many.
 */
export const MAX_CONTAINERS = 500_000;
const COUNTED_CHARACTERS = 4 * 1024 * 1024;

/** Characters of a key. What grows out of data by mistake, such as a text for a key, is longer. */
const MAX_KEY_CHARACTERS = 1000;

/** NUL, and half of a surrogate pair: with the `u` flag, the class matches one only where it is alone. */
const UNSTORABLE = /[\0\ud800-\udfff]/u;
/** Escapes that bring such a character into JSON. */
const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

/** Whether PostgreSQL has a place for a text. */
export const isStorable = (text: string): boolean => !UNSTORABLE.test(text);

export const UNSTORABLE_TEXT = 'text with a NUL character or half a surrogate pair, which cannot be stored';

/** Whether a number stays of bounded length when PostgreSQL writes it out. */
export function isStorableNumber({ digits }: ExactNumber): boolean {
  const exponent = /[eE]([+-]?\d+)$/.exec(digits)?.[1];
  return exponent === undefined || Math.abs(Number(exponent)) <= MAX_EXPONENT;
}

/** Whether a text may have more containers than `parseSafely` takes; half as many where they were not all counted. */
export const mayHoldTooMany = (characters: number, counted: number): boolean =>
  characters > COUNTED_CHARACTERS && counted > MAX_CONTAINERS / 2;

/**
 * The JSON of a request, safe to store: bounded in depth, in the number of containers, in the length of keys
 * and in exponents, without characters that PostgreSQL has no place for. Nothing is changed on the way, but
 * NaN and Infinity become null.
 *
 * @throws SyntaxError with a message that the sender may see, or ApiError 413 for too many containers
 */
export const parseSafely = (text: string): unknown => parseChecked(text, parseTolerantly, 0);

/** The same of strict JSON, which has so many levels around it: NaN and Infinity are errors, too. */
export const parseStrictly = (text: string, depth: number): unknown => parseChecked(text, parseJson, depth);

function parseChecked(text: string, parse: (text: string) => unknown, depth: number): unknown {
  if (text.length > COUNTED_CHARACTERS && countContainers(text) > MAX_CONTAINERS) throw tooLarge();
  const value = parse(text);
  check(value, SUSPECT_ESCAPE.test(text) || !text.isWellFormed(), depth);
  return value;
}

function parseTolerantly(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const repaired = replaceNotNumbers(text);
    try {
      if (repaired !== text) return parseJson(repaired);
    } catch {
      // The first message names the first problem.
    }
    throw error;
  }
}

/** Texts are looked at only where `suspect`. */
function check(value: unknown, suspect: boolean, depth: number): void {
  if (typeof value === 'string') checkText(value, suspect);
  if (typeof value !== 'object' || value === null) return;
  if (isExactNumber(value)) {
    if (!isStorableNumber(value))
      throw new SyntaxError(`Number ${value.digits.slice(0, 40)} is out of range`);
    return;
  }
  if (depth === MAX_DEPTH) throw new SyntaxError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    for (const item of value) check(item, suspect, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
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
