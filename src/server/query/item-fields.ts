import { isExactNumber } from '../../lib/json/exact-number.ts';
import { type JsonObject, toText } from '../http/json.ts';
import type { Scalar } from './filter.ts';

/** An item that is no filter, and why. */
export interface Malformed {
  readonly kind: 'malformed';
  readonly reason: string;
}

export const malformed = (reason: string): Malformed => ({ kind: 'malformed', reason });

export const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  typeof value === 'boolean' ||
  isExactNumber(value);

/** A whole number from 0, given as a number or as text. */
export function wholeNumber(value: unknown): number | undefined {
  const text = isScalar(value) ? toText(value) : '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export const isNegated = (item: JsonObject): boolean => item['negation'] === true;
