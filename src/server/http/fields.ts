import { z } from '@hono/zod-openapi';
import { isExactNumber } from '../../lib/json/exact-number.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { isJsonObject } from './json.ts';

/**
 * Fields of request bodies as the service's clients write them: from JSON with its types, from forms and
 * queries as text. A number may be text, a boolean any of the usual words.
 */
const TRUE = new Set<unknown>([true, 1, 'true', 'True', 'TRUE', 't', 'T', '1', 'on', 'On', 'yes', 'y']);
const FALSE = new Set<unknown>([false, 0, 'false', 'False', 'FALSE', 'f', 'F', '0', 'off', 'Off', 'no', 'n']);

export const booleanField = () =>
  z
    .preprocess((value) => (TRUE.has(value) ? true : FALSE.has(value) ? false : value), z.boolean())
    .openapi({ type: 'boolean' });

/** Postgres' integer: ids and levels. */
export const integerField = () =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && /^\s*[+-]?\d{1,10}\s*$/.test(value) ? Number(value) : value),
      z
        .int()
        .min(-(2 ** 31))
        .max(2 ** 31 - 1),
    )
    .openapi({ type: 'integer' });

/** Text of at most `max` characters; a number counts as its digits. */
export const textField = (max: number) =>
  z
    .preprocess(
      (value) => (typeof value === 'number' || isExactNumber(value) ? String(value) : value),
      z.string().max(max),
    )
    .openapi({ type: 'string', maxLength: max });

/** A JSON object with any members. `message` replaces the error for anything else. */
export const objectField = (message?: string) =>
  z
    .custom<Readonly<Record<string, unknown>>>(
      isJsonObject,
      message === undefined ? { params: { expected: 'object' } } : { error: message },
    )
    .openapi({ type: 'object', additionalProperties: true });

/** The same of at most `max` characters as JSON. */
export const boundedObject = (max: number, message?: string) =>
  objectField(message).refine(
    (value) => stringifyJson(value).length <= max,
    `Ensure this field has no more than ${max} characters.`,
  );

/** Any JSON value that is not missing. */
export const anyField = () =>
  z.custom<unknown>((value) => value !== undefined).openapi({ description: 'Any JSON value.' });

/** What a person reads on a line, a terminal's too: without control characters. */
export const nameField = (max = 200) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, 'Must not hold control characters.')
    .openapi({ type: 'string', minLength: 1, maxLength: max });
