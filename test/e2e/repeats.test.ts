import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { createJsonlBench, type JsonlBench, NAME } from './jsonl-bench.ts';

const TIMEOUT_MS = 180_000;
afterEach(killAllBackhaul);

const order = (n: number, e: string, amount: number) =>
  `${JSON.stringify({ e, u: 'user-1', t: '2024-02-03T04:05:06Z', n, amount })}\n`;

/** One id for two events, one event twice, and one id for two contents of one event. */
const ORDERS = [
  order(1, 'Order Completed', 10),
  order(1, 'Order Refunded', 10),
  order(2, 'Order Completed', 20),
  order(2, 'Order Completed', 20),
  order(3, 'Order Completed', 30),
  order(3, 'Order Completed', 31),
];
const even = ORDERS.filter((_, index) => index % 2 === 0);
const odd = ORDERS.filter((_, index) => index % 2 === 1);

const LAYOUTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'one file': [ORDERS],
  'two files, reversed': [odd.toReversed(), even.toReversed()],
  ...(ALL ? { reversed: [ORDERS.toReversed()], 'a file for each record': ORDERS.map((one) => [one]) } : {}),
};

it(
  'the same orders make the same books, however they lie in files, and a replay sends what shares an id',
  async (context) => {
    const run = async (files: readonly (readonly string[])[]): Promise<JsonlBench> => {
      const bench = await createJsonlBench(context);
      for (const [number, lines] of files.entries()) bench.put(`${number}.json`, lines.join(''));
      const ended = await bench.run();
      expect(ended.code, ended.stderr).toBe(0);
      expect(parseReport(ended)).toMatchObject({
        balanced: true,
        counts: { read: 6, delivered: 4, skipped: 0, duplicate: 1, rejected: 1 },
        events: { distinct: 4 },
        byEvent: {
          'Order Completed': { read: 5, delivered: 3, duplicate: 1, rejected: 1 },
          'Order Refunded': { read: 1, delivered: 1 },
        },
        byReason: { repeated: 1, same_id_other_content: 1 },
        repeats: { counted: true, partsWithout: 0 },
      });
      expect(bench.destination.events().size).toBe(4);
      return bench;
    };
    const benches = await Promise.all(Object.values(LAYOUTS).map(run));

    const bench = benches.at(-1);
    if (!bench) throw new Error('there are layouts');
    const listed = await bench.command('rejects', 'ls', '--json', NAME);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      rejects: [{ reason: 'same_id_other_content', count: 1 }],
    });
    const replayed = await bench.command('rejects', 'replay', '--json', NAME);
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(parseReport(replayed)).toMatchObject({
      counts: { read: 2, delivered: 2 },
      events: { distinct: 2 },
    });
    const amounts = [...bench.destination.events().values()].map(({ properties }) => properties['amount']);
    expect(amounts).toHaveLength(6);
    expect(amounts).toEqual(expect.arrayContaining([30, 31]));
  },
  TIMEOUT_MS,
);

it(
  'items that share an id are all sent in the end, and the books name what the destination holds',
  async (context) => {
    const mapping = {
      event: { column: 'items.e' },
      distinctId: { column: 'u' },
      timestamp: { column: 't' },
      unnest: { column: 'items' },
      key: ['n'],
    };
    const bench = await createJsonlBench(context, {
      more: { source: { type: 'jsonl', from: 'in/**/*', mapping } },
    });
    const cart = (n: number, ...items: readonly object[]) =>
      `${JSON.stringify({ u: 'user-1', t: '2024-02-03T04:05:06Z', n, items })}\n`;
    const repeated = cart(2, { e: 'Seen', v: 1 }, { e: 'Bought', v: 1 });
    bench.put('1.json', [cart(1, { e: 'Seen' }, { e: 'Bought', v: 'one' }), repeated].join(''));
    bench.put('2.json', [cart(1, { e: 'Left' }, { e: 'Bought', v: 'two' }), repeated].join(''));

    const ended = await bench.run();
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({
      balanced: true,
      counts: { read: 4, delivered: 2, duplicate: 1, rejected: 1 },
      events: { accepted: 8, distinct: 5 },
      byReason: { repeated: 1, same_id_other_content: 1 },
    });
    expect(bench.destination.events().size).toBe(5);
    const replayed = await bench.command('rejects', 'replay', '--json', NAME);
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(parseReport(replayed)).toMatchObject({
      counts: { read: 2, delivered: 2 },
      // And not what else there is in both carts, which has arrived.
      events: { accepted: 2, distinct: 2 },
    });
    const values = [...bench.destination.events().values()].map(({ properties }) => properties['items']);
    expect(values).toHaveLength(7);
    expect(values).toEqual(
      expect.arrayContaining([
        { e: 'Bought', v: 'one' },
        { e: 'Bought', v: 'two' },
      ]),
    );
  },
  TIMEOUT_MS,
);
