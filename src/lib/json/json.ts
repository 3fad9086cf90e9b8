import { parseExact, stringifyExact } from './exact-json.ts';

/**
 * JSON that keeps its numbers (I9). `JSON.parse` is right for numbers that a double holds; only texts
 * with others (19-digit ids, long decimals, 1e400) take the exact way, where such a number stays a
 * LosslessNumber.
 */
export function parseJson(text: string): { readonly value: unknown; readonly exact: boolean } {
  if (!mayHoldUnsafeNumber(text)) return { value: JSON.parse(text), exact: false };
  return parseExact(text, isUnsafe);
}

/** An event's JSON text. `exact` tells that its record held numbers that JSON.stringify would not keep. */
export function stringifyEvent(event: unknown, exact: boolean): string {
  return exact ? stringifyExact(event) : JSON.stringify(event);
}

/** Whether a double written back gives another number. */
function isUnsafe(digits: string): boolean {
  const number = Number(digits);
  if (!Number.isFinite(number)) return true;
  if (number === 0) return /^[^eE]*[1-9]/.test(digits);
  const back = String(number);
  if (back === digits) return false;
  return (INTEGER.test(back) && INTEGER.test(digits)) || normalise(back) !== normalise(digits);
}

/** Of these no two texts have the same value. */
const INTEGER = /^-?[1-9]\d*$/;

/** The same text for the same value: sign, significant digits, exponent. */
function normalise(text: string): string {
  const [mantissa = '', exponentText = '0'] = text.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  // The value is 0.<significant> times ten to this.
  const exponent = BigInt(exponentText) - BigInt(fraction.length) + BigInt(digits.length);
  return `${negative ? '-' : ''}${significant}e${exponent}`;
}

const RUN = 16;
/** Exponents of three digits and more, behind which a number ends: `1e400`, not the middle of a uuid. */
const LARGE_EXPONENT = /\d[eE][+-]?\d{3,}[\s,\]}]/;

/**
 * Only a run of 16 digits and points can hold more than a double keeps. A run that long covers a
 * multiple of 16, so looking at every 16th character finds them all: ten times as fast as a pattern.
 */
export function mayHoldUnsafeNumber(text: string): boolean {
  for (let at = RUN - 1; at < text.length; at += RUN) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let first = at;
    let last = at;
    while (first > 0 && isDigitOrPoint(text.charCodeAt(first - 1))) first -= 1;
    while (last + 1 < text.length && isDigitOrPoint(text.charCodeAt(last + 1))) last += 1;
    // A string of digits is no number.
    if (last - first + 1 >= RUN && text[first - 1] !== '"') return true;
    at = last;
  }
  return LARGE_EXPONENT.test(text);
}

const isDigitOrPoint = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2e;
