import { ExactNumber, MARK } from './exact-number.ts';
import { markNumbers, mayLoseDigits } from './scan-json.ts';

/** Callers bound the depth of what strangers send far below. JSON.parse itself has no bound. */
const MAX_DEPTH = 1000;

/**
 * JSON.parse that keeps every digit (I9): a number that a double cannot hold becomes an ExactNumber, every
 * other one a number (`losesDigits` decides). JSON.parse does the work also where there are such numbers,
 * which pass through it as marked strings.
 *
 * @throws SyntaxError with the words of JSON.parse
 */
export function parseJson(text: string): unknown {
  const marked = mayLoseDigits(text) ? markNumbers(text) : undefined;
  if (marked === undefined) return JSON.parse(text);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch (error) {
    JSON.parse(text); // its message quotes the text as it came
    throw error;
  }
  return unmark(value, 0);
}

/** The value, or undefined where the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function unmark(value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) throw new SyntaxError(`nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const inner: unknown = value[index];
      if (mayBeMarked(inner)) value[index] = unmark(inner, depth + 1);
    }
    return value;
  }
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const inner = fields[key];
    // An own `__proto__` of JSON.parse is a field like any other.
    if (mayBeMarked(inner)) fields[key] = unmark(inner, depth + 1);
  }
  return value;
}

const MARK_START = MARK.charCodeAt(0);

const mayBeMarked = (value: unknown): boolean =>
  typeof value === 'string' ? value.charCodeAt(0) === MARK_START : typeof value === 'object';
