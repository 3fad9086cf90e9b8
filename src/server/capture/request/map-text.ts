import { stringifyJson } from '../../../lib/json/stringify-json.ts';

/** JSON text of an object kept as a map. */
export function mapText(map: ReadonlyMap<string, unknown>): string {
  const members: string[] = [];
  for (const [key, value] of map) {
    const text = typeof value === 'object' ? stringifyJson(value) : JSON.stringify(value);
    members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
