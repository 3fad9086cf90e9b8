import { stringifyJson } from '../json.ts';

/** JSON text of an object kept as a map. */
export function mapText(map: ReadonlyMap<string, unknown>): string {
  const members: string[] = [];
  for (const [key, value] of map) members.push(`${JSON.stringify(key)}:${stringifyJson(value)}`);
  return `{${members.join(',')}}`;
}
