import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Paged } from '../http/paging.ts';

/** A page as JSON text, its further results read while it is sent. */
export async function* streamPage(
  page: Paged<unknown>,
  more: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string, void, undefined> {
  const { results, ...frame } = page;
  yield `${stringifyJson(frame).slice(0, -1)},"results":[`;
  let mark = '';
  const list = (persons: readonly unknown[]) => {
    const text = persons.map(stringifyJson).join(',');
    if (text === '') return ''; // all of them are gone
    const before = mark;
    mark = ',';
    return before + text;
  };
  yield list(results);
  for await (const persons of more) yield list(persons);
  yield ']}';
}
