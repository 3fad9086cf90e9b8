import { isSafeNumber, LosslessNumber, parse } from 'lossless-json';

/** A column of JSON text that is none, or nested too deep to be written again. */
export const NOT_JSON = Symbol('not JSON');

const MAX_DEPTH = 200;

/** Digits that a double may not hold; only such texts take the exact parser, which is ten times slower. */
const MANY_DIGITS = /[\d.]{16}|\d[eE][+-]?\d{3}/;

export function parseJsonCell(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (!isShallow(value, MAX_DEPTH)) return NOT_JSON;
    if (!MANY_DIGITS.test(text)) return value;
    return parse(text, undefined, {
      parseNumber: (digits) => (isSafeNumber(digits) ? Number(digits) : new LosslessNumber(digits)),
      // As JSON.parse does: of a repeated key, the last value.
      onDuplicateKey: ({ newValue }) => newValue,
    });
  } catch {
    return NOT_JSON;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.values(value).every((inner) => isShallow(inner, levels - 1));
}
