import { isLosslessNumber } from 'lossless-json';

/**
 * One text for one value, whatever order its keys came in. Numbers that a double cannot hold keep
 * every digit. Used for ids and for comparing values, never for sending.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value !== 'object') return JSON.stringify(value);
  if (isLosslessNumber(value)) return value.value;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const texts = Object.keys(fields)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(fields[key])}`);
  return `{${texts.join(',')}}`;
}
