import { parseJson } from '../../lib/json/parse-json.ts';
import { isJsonObject, textOf } from '../http/json.ts';
import type { ValueCount } from './value-store.ts';

/** Text of a value as the service writes it: containers as JSON with sorted keys and a space after each mark. */
export function renderValue({ value, isContainer, count }: ValueCount): { name: string; count: number } {
  return { name: isContainer ? sortedJson(parseJson(value)) : value, count };
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(', ')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? JSON.stringify(value) : textOf(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}: ${sortedJson(inner)}`).join(', ')}}`;
}
