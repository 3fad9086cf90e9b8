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

/** Escapes that Postgres refuses in jsonb: NUL, and halves of a surrogate pair (found by the replacement). */
const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

/**
 * JSON from a stranger, safe to store: bounded in depth and number, without characters that Postgres has
 * no place for. Throws SyntaxError, whose message the sender may see, or the refusal of what is too large.
 */
export function parseSafely(text: string): JsonDocument {
  if (text.length > COUNTED_CHARACTERS && countContainers(text) > MAX_CONTAINERS) throw tooLarge();
  const document = parseTolerantly(text);
  const value = clean(document.value, SUSPECT_ESCAPE.test(text), 0);
  return { value, lossless: document.lossless };
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

function clean(value: unknown, replace: boolean, depth: number): unknown {
  if (typeof value === 'string') return replace ? cleanText(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) throw new SyntaxError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    if (replace) return value.map((item) => clean(item, replace, depth + 1));
    for (const item of value) clean(item, replace, depth + 1);
    return value;
  }
  if (!isJsonObject(value)) return value; // a LosslessNumber
  if (replace) {
    // fromEntries makes `__proto__` a property like any other; an assignment would not.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [cleanText(key), clean(item, replace, depth + 1)]),
    );
  }
  for (const key in value) clean(value[key], replace, depth + 1);
  return value;
}

/** With the `u` flag, the class matches a surrogate only where it stands alone. */
export const cleanText = (text: string) => text.replace(/[\0\ud800-\udfff]/gu, '\uFFFD');
