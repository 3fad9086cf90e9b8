import type { z } from '@hono/zod-openapi';
import { isExactNumber } from '../../lib/json/exact-number.ts';
import { ApiError } from './errors.ts';

type Issue = z.core.$ZodIssue;

/** The input as the schema reads it, or a refusal (400). */
export function validated<S extends z.ZodType>(schema: S, input: unknown): z.infer<S> {
  const result = schema.safeParse(input);
  if (!result.success) throw validationError(result.error, input);
  return result.data;
}

/** The first problem only, in the words and codes that clients of the service know. */
export function validationError(error: z.core.$ZodError, input: unknown): ApiError {
  const issue = error.issues[0];
  if (issue === undefined) return new ApiError(400, 'validation_error', 'invalid_input', 'Invalid input.');
  const [code, detail] = describe(issue, valueAt(input, issue.path));
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  return new ApiError(400, 'validation_error', code, detail, path.map(String).join('__') || null);
}

function describe(issue: Issue, value: unknown): [code: string, detail: string] {
  if (value === undefined) return ['required', 'This field is required.'];
  if (value === null) return ['null', 'This field may not be null.'];
  switch (issue.code) {
    case 'invalid_type':
      // A schema that says what it takes has its own words.
      return [
        'invalid_input',
        issue.message.startsWith('Invalid input') ? wrongType(issue.expected, value) : issue.message,
      ];
    case 'too_big':
      if (issue.origin === 'string') {
        return ['max_length', `Ensure this field has no more than ${issue.maximum} characters.`];
      }
      if (issue.origin === 'array') {
        return ['max_length', `Ensure this field has no more than ${issue.maximum} elements.`];
      }
      return ['max_value', `Ensure this value is less than or equal to ${issue.maximum}.`];
    case 'too_small':
      if (issue.origin === 'string') return ['blank', 'This field may not be blank.'];
      if (issue.origin === 'array') return ['empty', 'This list may not be empty.'];
      return ['min_value', `Ensure this value is greater than or equal to ${issue.minimum}.`];
    case 'invalid_value':
      return ['invalid_choice', `"${shown(value)}" is not a valid choice.`];
    case 'invalid_format':
      return ['invalid_input', issue.format === 'uuid' ? 'Must be a valid UUID.' : issue.message];
    case 'custom':
      return [
        'invalid_input',
        issue.params?.['expected'] ? wrongType(`${issue.params['expected']}`, value) : issue.message,
      ];
    default:
      return ['invalid_input', issue.message];
  }
}

function wrongType(expected: string, value: unknown): string {
  switch (expected) {
    case 'int':
    case 'number':
      return 'A valid integer is required.';
    case 'boolean':
      return 'Must be a valid boolean.';
    case 'string':
      return 'Not a valid string.';
    case 'array':
      return `Expected a list of items but got type "${pythonType(value)}".`;
    case 'record':
    case 'object':
      return `Invalid data. Expected a dictionary, but got ${pythonType(value)}.`;
    default:
      return 'Invalid input.';
  }
}

/** The service names types in the language that it is written in, and clients match on the text. */
function pythonType(value: unknown): string {
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (isExactNumber(value)) return /^-?\d+$/.test(value.toString()) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'dict';
}

const MAX_SHOWN = 100;
const shown = (value: unknown) =>
  (typeof value === 'object' && !isExactNumber(value) ? pythonType(value) : String(value)).slice(
    0,
    MAX_SHOWN,
  );

/** Undefined where the path leads nowhere. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.entries(value).find(([name]) => name === String(key))?.[1];
  }
  return value;
}
