import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { createJsonlBench, line, numbers } from './jsonl-bench.ts';

const TIMEOUT_MS = 240_000;
afterEach(killAllBackhaul);

const RECORDS = 1_500;
const MAX_BODY_BYTES = 30_000;
/** A request that hangs is given up after 50 s: BACKHAUL_TEST_LONG=1 has the patience. */
const LONG = process.env['BACKHAUL_TEST_LONG'] === '1';
/** Larger than the destination takes, which it alone knows. */
const isRefused = (n: number) => n % 100 === 37;

it(
  'a destination that answers 400, 413, 429 and 500, resets, hangs and trickles ends with exactly the valid events',
  async (context) => {
    const bench = await createJsonlBench(context, {
      maxBodyBytes: MAX_BODY_BYTES,
      faults: {
        seed: 11,
        badRequest: 0.04,
        tooLarge: 0.03,
        tooMany: 0.03,
        serverError: 0.08,
        reset: 0.08,
        page: 0.03,
        hang: LONG ? 0.02 : 0,
        slow: LONG ? 0.02 : 0,
      },
      limits: { requestsInFlight: 8, batch: { events: 60 } },
    });
    const text = numbers(0, RECORDS).map((n) =>
      line(n, isRefused(n) ? { text: 'x'.repeat(2 * MAX_BODY_BYTES) } : {}),
    );
    bench.put('a.json', `${text.join('\n')}\n`);
    const ended = await bench.run();
    expect(ended.code, ended.stderr).toBe(0);
    const refused = numbers(0, RECORDS).filter(isRefused).length;
    expect(bench.arrived()).toEqual(numbers(0, RECORDS).filter((n) => !isRefused(n)));
    expect(parseReport(ended)).toMatchObject({
      balanced: true,
      counts: { read: RECORDS, delivered: RECORDS - refused, rejected: refused },
      byReason: { refused },
    });
    expect(bench.destination.conflicts).toEqual([]);
    const statuses = new Set(bench.destination.requests.map(({ status }) => status));
    expect([...statuses]).toEqual(expect.arrayContaining([0, 200, 400, 413, 429, 500]));
  },
  TIMEOUT_MS,
);
