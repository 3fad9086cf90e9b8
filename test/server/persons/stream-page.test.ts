import { expect, test } from 'vitest';
import { streamPage } from '../../../src/server/persons/stream-page.ts';

const frame = { count: 9, next: 'http://host/next', previous: null };

test.each([[[[1, 2], [3], [4]]], [[[], [3], []]], [[[1], [], [2]]], [[[], []]], [[[]]]])(
  'the results %j, a few at a time, make one document',
  async ([first = [], ...rest]) => {
    async function* more() {
      yield* rest;
    }
    let text = '';
    for await (const part of streamPage({ ...frame, results: first }, more())) text += part;
    expect(JSON.parse(text)).toEqual({ ...frame, results: [...first, ...rest.flat()] });
  },
);
