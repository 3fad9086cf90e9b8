import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';

/** Ways in which two persons became one at the destination. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

it('a known user without an anonymous id is not merged into whoever has its id as anonymous one', async () => {
  const seen = [
    { user: 'bob', device: 'alice', plan: 'b', time: '2021-01-01T00:00:00Z' },
    { user: 'alice', plan: 'a', time: '2021-01-02T00:00:00Z' },
  ];
  const { people } = await bench.run('users', seen);
  expect(people).toMatchObject({ pairs: 0, setAside: { already_identified: 1 } });
  expect(bench.takeSent()).toEqual({
    merges: [],
    properties: ['{"id":"alice","$set_once":{"plan":"a"}}', '{"id":"bob","$set_once":{"plan":"b"}}'],
  });
});
