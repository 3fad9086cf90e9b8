import { afterAll, describe, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { createJsonlBench, expectFault, lines, NAME, numbers } from './jsonl-bench.ts';

/** Answers that must not be believed: the migration pauses, and nothing is lost (I7, I12). */
const TIMEOUT_MS = 240_000;
afterAll(killAllBackhaul);

const RECORDS = 300;
type Answer = readonly [body: string, status: number, ...sentences: RegExp[]];
/** Each list is one migration, which pauses at one answer after the other. */
const ANSWERS: readonly (readonly Answer[])[] = [
  [
    [
      '',
      200,
      /HTTP 200 and an empty body, which does not say that it took the events/,
      /destination\.acceptance/,
    ],
    ['{"status":"Ok","quota_limited":["events"]}', 200, /quota is used up .*Raise the billing limit/],
  ],
  ...(ALL
    ? ([
        [
          ['{"success":false}', 200, /HTTP 200 and the body \{"success":false\}, which does not say/],
          ['{"errors":[{"index":0}]}', 200, /the body \{"errors":\[\{"index":0\}\]\}, which does not say/],
        ],
        [
          ['{"status":1', 200, /the body \{"status":1, which does not say/],
          ['', 204, /HTTP 204 and an empty body, which does not say/],
        ],
        [['<html><body>Please sign in</body></html>', 200, /not with a response of event ingestion/]],
      ] as const)
    : []),
];

// Beside one another: most of their time is waits between attempts.
describe.concurrent('answers without a proof', { timeout: TIMEOUT_MS }, () => {
  it.for(ANSWERS.map((answers) => ({ answers, seen: answers.map(([body, status]) => `${status} ${body}`) })))(
    'pause the migration with what was seen, and a resume delivers all once they are corrected: $seen',
    async ({ answers }, context) => {
      const bench = await createJsonlBench(context, { limits: { batch: { events: 50 } } });
      bench.put('a.json', lines(0, RECORDS));
      for (const [index, [body, status, ...sentences]] of answers.entries()) {
        bench.destination.overrule({ status, body });
        const ended = await (index === 0 ? bench.run() : bench.command('resume', '--json', NAME));
        expectFault(ended, 5, /was paused/, /nothing is lost/, /Continue with: .*resume bad/, ...sentences);
        expect(ended.stderr).not.toContain('phc_e2e');
      }
      expect(bench.arrived()).toEqual([]);

      bench.destination.overrule(undefined);
      const ended = await bench.command('resume', '--json', NAME);
      expect(ended.code, ended.stderr).toBe(0);
      expect(bench.arrived()).toEqual(numbers(0, RECORDS));
      expect(parseReport(ended)).toMatchObject({
        balanced: true,
        counts: { read: RECORDS, delivered: RECORDS, rejected: 0 },
      });
    },
  );

  it('count where the manifest declares them, and doctor --send-probe shows them', async (context) => {
    const bench = await createJsonlBench(context);
    bench.put('a.json', lines(0, 20));
    bench.destination.overrule({ status: 202, body: '{"queued":true}' });
    expectFault(await bench.run(), 5, /declare it as destination\.acceptance and run the manifest again/);

    bench.declare({ acceptance: { fields: { queued: true } } });
    bench.destination.overrule({ status: 202, body: '{"queued":false}' });
    const doubted = await bench.command('doctor', '--send-probe', bench.manifest());
    expect(doubted.code, doubted.stdout).toBe(2);
    expect(doubted.stdout).toMatch(
      /✗ probe .*HTTP 202 and the body \{"queued":false\}; a run does not count/,
    );

    bench.destination.overrule({ status: 202, body: '{"queued":true}' });
    const ended = await bench.run();
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({ counts: { delivered: 20 } });
  });
});

describe.concurrent('a destination that refuses everything', { timeout: TIMEOUT_MS }, () => {
  it('pauses the migration instead of rejecting its records; an operator may go on all the same', async (context) => {
    const bench = await createJsonlBench(context, { limits: { batch: { events: 50 } } });
    bench.put('a.json', lines(0, RECORDS));
    const blocked = { status: 400, body: '<html>Request blocked by policy 7</html>' };
    bench.destination.overrule(blocked);
    const ended = await bench.run();
    expectFault(
      ended,
      5,
      /refused 20 single events in a row/,
      /Request blocked by policy 7/,
      /--accept-refusals/,
    );
    expect(bench.destination.requests.length).toBeLessThan(200);
    const refused = await bench.command('rejects', 'ls', '--json', NAME);
    expect(refused.stdout).not.toContain('"refused"');

    // Some records are refused for good; what follows is taken.
    let left = 120;
    bench.destination.overrule((events) => {
      if (events > 1) return blocked;
      left -= 1;
      return left > 0 ? blocked : undefined;
    });
    const resumed = await bench.command('resume', '--json', '--accept-refusals', NAME);
    expect(resumed.code, resumed.stderr).toBe(0);
    const { counts, byReason, balanced } = parseReport(resumed);
    expect(balanced).toBe(true);
    expect(byReason).toEqual({ refused: counts.rejected });
    expect(counts.rejected).toBeGreaterThan(20);
    expect(counts).toMatchObject({ read: RECORDS, delivered: RECORDS - counts.rejected });

    bench.destination.overrule(undefined);
    const replayed = await bench.command('rejects', 'replay', '--json', NAME);
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, RECORDS));
  });

  it.runIf(ALL)('pauses also where the first events are all that a process has to send', async (context) => {
    const bench = await createJsonlBench(context);
    bench.put('a.json', lines(0, 3));
    bench.destination.overrule({ status: 400, body: '{"detail":"blocked"}' });
    expectFault(await bench.run(), 5, /refused all of the first events .*blocked/, /--accept-refusals/);

    bench.destination.overrule(undefined);
    const ended = await bench.command('resume', '--json', NAME);
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, 3));
  });
});
