import { endOfString } from './scan-json.ts';

/** A string without escapes, and without the control characters that JSON has no place for. */
const PLAIN_STRING = /"[ !#-[\]-\uffff]*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/**
 * JSON.parse that asks `readNumber` what the text of each number means. Of a key that repeats the last
 * one wins. Strings are taken in one piece: a parser that goes by characters stands still at megabytes.
 */
export function parseLossless(text: string, readNumber: (digits: string) => unknown): unknown {
  let at = 0;

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at += 1;
    }
  }

  /** Moves behind the sign if it stands here. */
  function takes(sign: string): boolean {
    skipSpace();
    const found = text.charAt(at) === sign;
    if (found) at += 1;
    return found;
  }

  function expect(sign: string): void {
    if (!takes(sign)) fail();
  }

  function parseValue(): unknown {
    skipSpace();
    switch (text.charAt(at)) {
      case '"':
        return parseString();
      case '{':
        return parseObject();
      case '[':
        return parseArray();
      default:
        return parseScalar();
    }
  }

  function parseObject(): unknown {
    at += 1;
    const object: Record<string, unknown> = {};
    if (takes('}')) return object;
    do {
      skipSpace();
      if (text.charAt(at) !== '"') fail();
      const key = parseString();
      expect(':');
      const value = parseValue();
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      } else object[key] = value;
    } while (takes(','));
    expect('}');
    return object;
  }

  function parseArray(): unknown {
    at += 1;
    const list: unknown[] = [];
    if (takes(']')) return list;
    do list.push(parseValue());
    while (takes(','));
    expect(']');
    return list;
  }

  function parseString(): string {
    const start = at;
    PLAIN_STRING.lastIndex = start;
    if (PLAIN_STRING.test(text)) {
      at = PLAIN_STRING.lastIndex;
      return text.slice(start + 1, at - 1);
    }
    at = endOfString(text, start) + 1;
    return JSON.parse(text.slice(start, at)) as string;
  }

  function parseScalar(): unknown {
    for (const [word, value] of WORDS) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return value;
      }
    }
    NUMBER.lastIndex = at;
    if (!NUMBER.test(text)) fail();
    const digits = text.slice(at, NUMBER.lastIndex);
    at = NUMBER.lastIndex;
    return readNumber(digits);
  }

  /** The platform's parser knows the same grammar, and says best what is wrong. */
  function fail(): never {
    JSON.parse(text);
    throw new SyntaxError('This is not JSON');
  }

  const value = parseValue();
  skipSpace();
  if (at < text.length) fail();
  return value;
}
