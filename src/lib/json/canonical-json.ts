import { canonicalDigits, isExactNumber } from './exact-number.ts';

/**
 * One text for one value, in whatever order its keys come. Numbers that a double cannot hold keep every
 * digit. For ids and for comparing values, never for sending.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isExactNumber(value)) return canonicalDigits(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const texts = Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(fields[key])}`);
  return `{${texts.join(',')}}`;
}
