import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { PeopleKind } from '../insights/people-kind.ts';

/** A page of people as JSON text, its further rows read while it is sent. */
export async function* streamPeople(
  frame: object,
  shows: PeopleKind['shows'],
  count: number,
  first: readonly unknown[],
  more: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string, void, undefined> {
  const [before, after] =
    shows === 'people' ? [`"results":[{"count":${count},"people":[`, ']}]}'] : ['"result":[', ']}'];
  yield `${stringifyJson(frame).slice(0, -1)},${before}${first.map(stringifyJson).join(',')}`;
  for await (const rows of more) yield `,${rows.map(stringifyJson).join(',')}`;
  yield after;
}
