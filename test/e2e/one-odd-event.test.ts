import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { createJsonlBench, line, NAME, numbers } from './jsonl-bench.ts';

afterEach(killAllBackhaul);

const RECORDS = 300;
const POISON = 137;

for (const status of [403, 404, 422])
  it(`a firewall or gateway that answers ${status} to one event costs that event alone, which is kept and replayed`, async (context) => {
    const bench = await createJsonlBench(context, {
      limits: { requestsInFlight: 2, batch: { events: 100 } },
    });
    bench.put(
      'a.json',
      `${numbers(0, RECORDS)
        .map((n) => line(n))
        .join('\n')}\n`,
    );
    bench.destination.overrule((_events, text) =>
      text.includes(`"n":${POISON},`) || text.includes(`"n":${POISON}}`)
        ? { status, body: '<html>Request blocked by the firewall</html>' }
        : undefined,
    );
    const ended = await bench.run();
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, RECORDS).filter((n) => n !== POISON));
    expect(parseReport(ended)).toMatchObject({
      balanced: true,
      counts: { read: RECORDS, delivered: RECORDS - 1, rejected: 1 },
      byReason: { refused: 1 },
    });
    const listed = await bench.command('rejects', 'ls', NAME);
    expect(listed.stdout).toContain(`HTTP ${status}: Request blocked by the firewall`);

    bench.destination.overrule(undefined);
    const replayed = await bench.command('rejects', 'replay', NAME);
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, RECORDS));
  }, 120_000);
