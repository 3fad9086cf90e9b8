import { getMessage } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { invalidInput } from '../http/errors.ts';
import type { Filter } from '../query/filter.ts';
import { compilePattern } from '../query/match/pattern.ts';
import type { FlagSource } from './parse-flag.ts';
import { parseFlag } from './parse-flag.ts';

/**
 * Refuses a new definition with a mistake. Beside what cannot be read, that is what would have no effect:
 * payloads that clients cannot parse, and patterns that match nobody.
 *
 * @throws ApiError 400
 */
export function checkDefinition(source: FlagSource): void {
  const { conditions, superCondition } = parseFlag(source);
  for (const { filter } of [...conditions, ...(superCondition ? [superCondition] : [])])
    checkPatterns(filter);
  for (const [key, payload] of Object.entries(source.filters.payloads ?? {})) checkPayload(key, payload);
}

function checkPatterns(filter: Filter): void {
  if (filter.kind === 'group') for (const member of filter.members) checkPatterns(member);
  if (filter.kind !== 'property' || !filter.operator.endsWith('regex')) return;
  const broken = filter.values.map(String).find((pattern) => compilePattern(pattern) === undefined);
  if (broken === undefined) return;
  throw invalidInput(
    `The pattern "${broken.slice(0, MAX_SHOWN)}" of "${filter.key}" is no regular expression of RE2, or too large: it would match nobody.`,
    'filters',
  );
}

const MAX_SHOWN = 100;

function checkPayload(key: string, payload: unknown): void {
  if (typeof payload !== 'string') return;
  try {
    parseJson(payload);
  } catch (error) {
    throw invalidInput(
      `The payload of "${key}" is not JSON, which clients parse it as: ${getMessage(error)}. Text is JSON in quotation marks.`,
      'filters',
    );
  }
}
