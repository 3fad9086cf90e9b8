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

/** What to do where an id is of no cohort. */
export const WHERE_COHORTS_ARE = 'GET /api/projects/:project_id/cohorts/ lists the cohorts of the project.';

/** The same of actions. */
export const WHERE_ACTIONS_ARE = 'GET /api/projects/:project_id/actions/ lists the actions of the project.';

/** The id of a row, which is above 0; undefined for what is none. */
export function idOf(value: unknown): number | undefined {
  const id = wholeNumber(value);
  return id === undefined || id === 0 || id >= 2 ** 31 ? undefined : id;
}

export const isNegated = (item: JsonObject): boolean => item['negation'] === true;
