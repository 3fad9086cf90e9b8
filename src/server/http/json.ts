import { isLosslessNumber, LosslessNumber, stringify } from 'lossless-json';
import { parseLossless } from './parse-lossless.ts';

/**
 * JSON that keeps every digit (invariant I9). Most texts hold no number that a double cannot hold, and
 * take the fast native path; the others become LosslessNumber where, and only where, digits would be lost.
 */
export interface JsonDocument {
  readonly value: unknown;
  /** True when the value may hold LosslessNumber objects, which JSON.stringify cannot write. */
  readonly lossless: boolean;
}

/** A number of 16 characters or more, or with an exponent. Inside a string it costs time, not truth. */
const LONG_NUMBER = /(?:^|[:,[\s])-?(?:[0-9][0-9.]{15}|[0-9.]+[eE])/;
/** Postgres writes numbers out in full: 1e400 is 401 characters. */
const MAX_EXPONENT = 400;

export function parseJson(text: string): JsonDocument {
  if (!LONG_NUMBER.test(text)) return { value: JSON.parse(text), lossless: false };
  const value = parseLossless(text, parseNumber);
  return { value, lossless: true };
}

function parseNumber(text: string): number | LosslessNumber {
  const value = Number(text);
  if (String(value) === text) return value;
  const exponent = /[eE]([+-]?\d+)$/.exec(text)?.[1];
  if (exponent !== undefined && Math.abs(Number(exponent)) > MAX_EXPONENT) {
    throw new SyntaxError(`Number ${text.slice(0, 40)} is out of range`);
  }
  return new LosslessNumber(text);
}

export function stringifyJson(value: unknown): string {
  // undefined only for a value without JSON text, which no caller passes
  return stringify(value) ?? 'null';
}

/** A number with its exponent, in text as stringifyJson writes it. */
const WITH_EXPONENT = /[:,[]-?\d[\d.]*[eE]([+-]?\d+)(?=[,}\]])/g;
const SOME_EXPONENT = /[:,[]-?\d[\d.]*[eE]/;

/** Length of JSON text when Postgres has written it: `1e400` becomes 401 digits. */
export function writtenLength(text: string): number {
  let length = text.length;
  if (!SOME_EXPONENT.test(text)) return length;
  for (const [, exponent] of text.matchAll(WITH_EXPONENT)) length += Math.abs(Number(exponent));
  return length;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** Text that was stored as an object's. */
export function parseJsonObject(text: string): JsonObject {
  const { value } = parseJson(text);
  return isJsonObject(value) ? value : {};
}

/**
 * Equal as JSON, at any depth: objects in whatever order their keys stand (jsonb has an order of its own),
 * numbers by their digits where a double cannot hold them.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isLosslessNumber(a) || isLosslessNumber(b)) {
    return isNumber(a) && isNumber(b) && String(a) === String(b);
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => sameJson(item, b[at]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

const isNumber = (value: unknown) => typeof value === 'number' || isLosslessNumber(value);

/** Text of a scalar as ids are written: digits as they came, containers as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isLosslessNumber(value) ? value.toString() : stringifyJson(value);
}
