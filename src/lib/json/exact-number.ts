import { randomBytes } from 'node:crypto';

/**
 * A number of a JSON text that a double cannot hold, as the digits that were written (I9). Everything that
 * reads or writes JSON in this project uses this one carrier.
 */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toString(): string {
    return this.digits;
  }

  /** The nearest double; infinite beyond the range of doubles. */
  valueOf(): number {
    return Number(this.digits);
  }

  /** For `stringifyJson`, which writes the digits as a number; plain JSON.stringify writes them as a string. */
  toJSON(): string {
    if (!isMarking) return this.digits;
    hasMarked = true;
    return MARK + this.digits;
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => value instanceof ExactNumber;

/**
 * Numbers pass through JSON.parse and JSON.stringify as strings that begin with this mark. It needs no
 * escape, it leaves neither function, and it is random, so that no document can contain it on purpose.
 */
export const MARK = `\x7f${randomBytes(6).toString('base64url')}`;

let isMarking = false;
let hasMarked = false;

/** JSON.stringify with exact numbers as marked strings, and whether there was one. */
export function stringifyMarked(value: unknown): {
  readonly text: string | undefined;
  readonly marked: boolean;
} {
  isMarking = true;
  hasMarked = false;
  try {
    return { text: JSON.stringify(value), marked: hasMarked };
  } finally {
    isMarking = false;
  }
}

/** A shorter run of digits, with or without a point, always survives a double. */
export const MIN_UNSAFE_LENGTH = 16;
const INTEGER = /^-?[1-9]\d*$/;

/**
 * Whether a double would change a number of a JSON text: its value, or, for a number of 16 characters and
 * more without an exponent, the digits of its text (`1000000000000000000000`, which JavaScript writes as
 * `1e+21`: it may be an id). Other spellings of the same value are not kept: 1.10 is 1.1, 1E5 is 100000 and -0 is 0.
 */
export function losesDigits(text: string): boolean {
  const number = Number(text);
  if (!Number.isFinite(number)) return true;
  if (number === 0) return /^[^eE]*[1-9]/.test(text);
  const written = String(number);
  if (written === text) return false;
  const length = number < 0 ? text.length - 1 : text.length;
  if (length >= MIN_UNSAFE_LENGTH && written.includes('e') && !/[eE]/.test(text)) return true;
  if (isShort(text, number)) return false;
  // Of these no two texts have the same value.
  if (INTEGER.test(written) && INTEGER.test(text)) return true;
  return !isSameValue(written, text);
}

/**
 * The text by which a number is compared: the double's where it has the same value, else the digits as written.
 * Two spellings that no double can hold, such as 1e400 and 10e399, stay different.
 */
export function canonicalDigits({ digits }: ExactNumber): string {
  const number = Number(digits);
  if (!Number.isFinite(number) || number === 0) return digits;
  const written = String(number);
  return written.includes('e') && isSameValue(written, digits) ? written : digits;
}

/** A double holds every value of up to 15 digits, away from the ends of its range. */
function isShort(text: string, number: number): boolean {
  const magnitude = Math.abs(number);
  if (magnitude < 1e-290 || magnitude > 1e290) return false;
  const exponentAt = text.search(/[eE]/);
  return (exponentAt === -1 ? text.length : exponentAt) < MIN_UNSAFE_LENGTH;
}

function isSameValue(short: string, text: string): boolean {
  const a = normalise(short);
  const b = normalise(text);
  return a.significant === b.significant && a.exponent === b.exponent;
}

/** The value is 0.<significant> times ten to the exponent. The sign is left to the caller's two texts, which share it. */
function normalise(text: string): { readonly significant: string; readonly exponent: bigint } {
  const [mantissa = '', exponentText = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const exponent = BigInt(exponentText) - BigInt(fraction.length) + BigInt(digits.length);
  return { significant: trimZeros(digits), exponent };
}

/** By hand: a pattern for zeros at the end takes quadratic time on zeros in the middle. */
function trimZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end -= 1;
  return digits.slice(0, end);
}
