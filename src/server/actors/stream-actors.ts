import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { ActorList } from '../insights/lists/actor-list.ts';

/** A page of a list as JSON text, its further rows read while it is sent. */
export async function* streamActors(
  frame: object,
  shows: ActorList['shows'],
  count: number,
  first: readonly unknown[],
  more: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string, void, undefined> {
  const [before, after] =
    shows === 'actors' ? [`"results":[{"count":${count},"people":[`, ']}]}'] : ['"result":[', ']}'];
  yield `${stringifyJson(frame).slice(0, -1)},${before}${first.map(stringifyJson).join(',')}`;
  for await (const rows of more) yield `,${rows.map(stringifyJson).join(',')}`;
  yield after;
}
