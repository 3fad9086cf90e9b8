import { afterEach, describe, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { createJsonlBench, expectFault, lines, NAME, numbers } from './jsonl-bench.ts';

/** A 2xx that does not say that the events were taken: the migration pauses, and nothing is lost (I12). */
const TIMEOUT_MS = 240_000;
afterEach(killAllBackhaul);

const RECORDS = 300;
const ANSWERS: readonly (readonly [body: string, status: number, ...sentences: RegExp[]])[] = [
  [
    '',
    200,
    /HTTP 200 and an empty body, which does not say that it took the events/,
    /destination\.acceptance/,
  ],
  ['{"status":"Ok","quota_limited":["events"]}', 200, /quota is used up .*Raise the billing limit/],
  ...(ALL
    ? ([
        ['{"success":false}', 200, /HTTP 200 and the body \{"success":false\}, which does not say/],
        ['{"errors":[{"index":0}]}', 200, /the body \{"errors":\[\{"index":0\}\]\}, which does not say/],
        ['{"status":1', 200, /the body \{"status":1, which does not say/],
        ['', 204, /HTTP 204 and an empty body, which does not say/],
        ['<html><body>Please sign in</body></html>', 200, /not with a response of event ingestion/],
      ] as const)
    : []),
];

describe('answers without a proof', { timeout: TIMEOUT_MS }, () => {
  it('pause the migration with what was seen, and a resume delivers all once they are corrected', async (context) => {
    const bench = await createJsonlBench(context, { limits: { batch: { events: 50 } } });
    bench.put('a.json', lines(0, RECORDS));
    for (const [index, [body, status, ...sentences]] of ANSWERS.entries()) {
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
  });

  it('count where the manifest declares them, and doctor --send-probe shows them', async (context) => {
    const bench = await createJsonlBench(context, { declared: { acceptance: { fields: { queued: true } } } });
    bench.put('a.json', lines(0, 20));
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
