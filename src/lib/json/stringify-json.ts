import { MARK, stringifyMarked } from './exact-number.ts';

/** A quoted number with its mark, as JSON.stringify has written it. */
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** JSON.stringify that writes an ExactNumber as its digits, and undefined as null. */
export function stringifyJson(value: unknown): string {
  const { text = 'null', marked } = stringifyMarked(value);
  return marked ? text.replace(MARKED, '$1') : text;
}

/** The JSON text of an object that is kept as a map, in the map's order. */
export function stringifyMap(map: ReadonlyMap<string, unknown>): string {
  const members = [...map].map(([key, value]) => `${JSON.stringify(key)}:${stringifyJson(value)}`);
  return `{${members.join(',')}}`;
}
