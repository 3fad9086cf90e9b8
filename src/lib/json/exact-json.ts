import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * JSON with every digit of its numbers (I9), at about the speed of JSON.parse and JSON.stringify: they
 * do the work, and numbers that a double cannot hold go through them as marked strings. DEL is the
 * mark, for it needs no escape and hardly occurs; a text that does hold one takes lossless-json's own
 * parser and writer, which are some ten times slower.
 */
const MARK = '\x7f';
/** How the mark can stand in a text that does not hold it. */
const ESCAPED_MARK = '\\u007';

/** `isUnsafe` decides on each number that could be too long for a double. */
export function parseExact(
  text: string,
  isUnsafe: (digits: string) => boolean,
): { readonly value: unknown; readonly exact: boolean } {
  if (text.includes(MARK) || text.includes(ESCAPED_MARK)) return parseSlowly(text, isUnsafe);
  const marked = markNumbers(text, isUnsafe);
  return marked === undefined
    ? { value: JSON.parse(text), exact: false }
    : { value: unmark(JSON.parse(marked)), exact: true };
}

/** LosslessNumbers are written as they were, undefined as JSON.stringify does. */
export function stringifyExact(value: unknown): string {
  let marks = 0;
  const text = JSON.stringify(value, (_key, inner: unknown) => {
    if (!isLosslessNumber(inner)) return inner;
    marks += 1;
    return MARK + inner.value;
  });
  if (text === undefined) return 'null';
  const pieces = text.split(`"${MARK}`);
  // More marks than numbers: some string begins with one.
  if (pieces.length - 1 !== marks) return stringify(value) ?? 'null';
  return pieces.map((piece, index) => (index === 0 ? piece : piece.replace('"', ''))).join('');
}

function parseSlowly(text: string, isUnsafe: (digits: string) => boolean) {
  let exact = false;
  const parseNumber = (digits: string): unknown => {
    if (!isUnsafe(digits)) return Number(digits);
    exact = true;
    return new LosslessNumber(digits);
  };
  // The last of repeated keys wins, as in JSON.parse.
  const value = parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
  return { value, exact };
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** `12 :` would be a key, and JSON has no such keys. */
const COLON = /\s*:/y;
/** `1e400`: no shorter number is beyond a double. */
const MIN_CHARS = 5;

/** The text with its unsafe numbers as marked strings; undefined when it has none. Takes linear time on any text. */
function markNumbers(text: string, isUnsafe: (digits: string) => boolean): string | undefined {
  let marked = '';
  let copied = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (inString) at += code === BACKSLASH ? 1 : 0;
    else if (isNumberChar(code)) {
      const end = numberEnd(text, at);
      if (end - at >= MIN_CHARS) {
        const digits = text.slice(at, end);
        COLON.lastIndex = end;
        if (NUMBER.test(digits) && isUnsafe(digits) && !COLON.test(text)) {
          marked += `${text.slice(copied, at)}"${MARK}${digits}"`;
          copied = end;
        }
      }
      at = end - 1;
    }
  }
  return copied === 0 ? undefined : marked + text.slice(copied);
}

function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isNumberChar(text.charCodeAt(end))) end += 1;
  return end;
}

/** Digits, and what else a number may consist of. */
const isNumberChar = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2d ||
  code === 0x2b ||
  code === 0x2e ||
  code === 0x65 ||
  code === 0x45;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function unmark(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? new LosslessNumber(value.slice(1)) : value;
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = unmark(value[index]);
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const key of Object.keys(fields)) {
      const inner = fields[key];
      if (typeof inner === 'object' || (typeof inner === 'string' && inner.startsWith(MARK))) {
        fields[key] = unmark(inner);
      }
    }
  }
  return value;
}
