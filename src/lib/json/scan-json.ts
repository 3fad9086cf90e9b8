import { losesDigits, MARK, MIN_UNSAFE_LENGTH } from './exact-number.ts';

/**
 * Functions that look at JSON text without parsing it, in linear time. Strings are skipped by hand: a pattern
 * that matches them backtracks, and takes hours for a text that was made for it.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** How many objects and lists the text opens. */
export function countContainers(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) count += 1;
  }
  return count;
}

/** Whether objects and lists are nested deeper than `levels`. */
export function isDeeperThan(text: string, levels: number): boolean {
  return countOpeners(text, levels) > levels && measureDepth(text, levels) > levels;
}

/** Brackets of any meaning, up to one more than `enough`. */
function countOpeners(text: string, enough: number): number {
  let openers = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      openers += 1;
      if (openers > enough) return openers;
    }
  }
  return openers;
}

/** The depth of the text, up to one more than `enough`. */
function measureDepth(text: string, enough: number): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length && deepest <= enough; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}

/**
 * Whether two fields of an object have one name, of which JSON.parse keeps the last alone and other readers the first.
 * Looks at the outermost object only. The text must be JSON.
 */
export function hasRepeatedName(text: string): boolean {
  const seen = new Set<unknown>();
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    else if (code === QUOTE) {
      const start = at;
      at = findStringEnd(text, start);
      COLON.lastIndex = at + 1;
      if (depth !== 1 || !COLON.test(text)) continue;
      const name: unknown = JSON.parse(text.slice(start, at + 1)); // one name may be written in several ways
      if (seen.has(name)) return true;
      seen.add(name);
    }
  }
  return false;
}

const NOT_NUMBERS = /NaN|Infinity/;

/** Python clients write NaN and Infinity, which JSON does not have; they become null. */
export function replaceNotNumbers(text: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const start = quote === -1 ? text.length : quote;
    const between = text.slice(at, start);
    if (NOT_NUMBERS.test(between)) {
      pieces.push(text.slice(done, at), between.replaceAll(/-?\b(?:NaN|Infinity)\b/g, 'null'));
      done = start;
    }
    at = quote === -1 ? start : findStringEnd(text, quote) + 1;
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(done);
}

/** Index of the quote that ends the string; the length of the text where there is none. */
function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - 1 - before) % 2 === 1;
}

/** Exponents of three digits and more, behind which a number ends: `1e400`, not the middle of a uuid. */
const LARGE_EXPONENT = /\d[eE][+-]?\d{3,}(?:[\s,\]}]|$)/;

/**
 * Whether a number of the text may be more than a double keeps; false is certain. Only a run of 16 digits
 * and points or a large exponent can be. A run that long covers a multiple of 16, so looking at every 16th
 * character finds them all, ten times as fast as a pattern.
 */
export function mayLoseDigits(text: string): boolean {
  for (let at = MIN_UNSAFE_LENGTH - 1; at < text.length; at += MIN_UNSAFE_LENGTH) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let first = at;
    let last = at;
    while (first > 0 && isDigitOrPoint(text.charCodeAt(first - 1))) first -= 1;
    while (last + 1 < text.length && isDigitOrPoint(text.charCodeAt(last + 1))) last += 1;
    if (last - first + 1 >= MIN_UNSAFE_LENGTH && mayPrecedeDigits(text.charCodeAt(first - 1))) return true;
    at = last;
  }
  return LARGE_EXPONENT.test(text);
}

/** Whether digits behind this may be of a number: behind anything else, they are part of a string. */
const mayPrecedeDigits = (code: number): boolean => !(code > 0x20) || IN_FRONT_OF_DIGITS.has(code);
const IN_FRONT_OF_DIGITS = new Set(Array.from(':,[-+eE', (each) => each.charCodeAt(0)));

const isDigitOrPoint = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2e;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Behind a name. `12 :` would be one, and JSON has no such names. */
const COLON = /\s*:/y;

/**
 * The text with each number that loses digits as a marked string, undefined when there is none. What was
 * not JSON does not become JSON by it.
 */
export function markNumbers(text: string): string | undefined {
  const pieces: string[] = [];
  let marked = '';
  let copied = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (inString) at += code === BACKSLASH ? 1 : 0;
    else if (isNumberChar(code)) {
      const start = at;
      let hasExponent = false;
      for (let next = code; isNumberChar(next); next = text.charCodeAt(at)) {
        if (next === LOWER_E || next === UPPER_E) hasExponent = true;
        at += 1;
      }
      if (at - start >= MIN_UNSAFE_LENGTH || hasExponent) {
        const digits = text.slice(start, at);
        COLON.lastIndex = at;
        if (NUMBER.test(digits) && losesDigits(digits) && !COLON.test(text)) {
          pieces.push(text.slice(copied, start), OPENING, digits, '"');
          copied = at;
          if (pieces.length > MAX_PIECES) marked += pieces.splice(0).join('');
        }
      }
      at -= 1;
    }
  }
  return copied === 0 ? undefined : marked + pieces.join('') + text.slice(copied);
}

const OPENING = `"${MARK}`;
/** Joined from time to time: a body of nothing but long numbers would take many times its size in pieces. */
const MAX_PIECES = 50_000;

const LOWER_E = 0x65;
const UPPER_E = 0x45;

/** Digits, and what else a number may consist of. */
const isNumberChar = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2d ||
  code === 0x2b ||
  code === 0x2e ||
  code === LOWER_E ||
  code === UPPER_E;
