import { isExactNumber } from '../../../lib/json/exact-number.ts';
import { isJsonObject, type JsonObject } from '../../http/json.ts';
import { writeNumber } from './numbers.ts';

/** A value as PostgreSQL writes it (`properties ->> key`); undefined where that is null. */
export function toStoredText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : write(value);
}

function write(value: unknown): string {
  if (typeof value === 'number' || isExactNumber(value)) return writeNumber(String(value));
  if (Array.isArray(value)) return `[${value.map(write).join(', ')}]`;
  if (isJsonObject(value)) return writeObject(value);
  return JSON.stringify(value) ?? 'null';
}

/** The order of jsonb: shorter keys first, then by bytes. */
function writeObject(value: JsonObject): string {
  const entries = Object.entries(value).map(([key, item]) => [Buffer.from(key), item] as const);
  entries.sort(([a], [b]) => a.length - b.length || Buffer.compare(a, b));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key.toString())}: ${write(item)}`).join(', ')}}`;
}

/** Below 0, 0 or above 0, in the order of PostgreSQL's collation "C": by bytes of UTF-8. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
