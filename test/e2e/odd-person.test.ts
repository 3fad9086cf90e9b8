import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { createJsonlBench, line, NAME, numbers } from './jsonl-bench.ts';

afterEach(killAllBackhaul);

const RECORDS = 20;

/** Waits out the back-off twice: some four minutes. */
it.runIf(ALL)(
  'a merge on which the service always fails is named in a pause, given up where somebody has looked, and never made another way',
  async (context) => {
    const columns = { distinctId: { column: 'u' }, anonymousId: { column: 'd' } };
    const mapping = { ...columns, event: { column: 'e' }, timestamp: { column: 't' }, key: ['n'] };
    const bench = await createJsonlBench(context, {
      more: { source: { type: 'jsonl', from: 'in/**/*', mapping }, rejects: { failAbove: '50%' } },
    });
    bench.put(
      'a.json',
      numbers(0, RECORDS)
        .map((n) => `${line(n, { u: 'ann', d: 'tablet' })}\n`)
        .join(''),
    );
    let attempts = 0;
    let refusesFirst = true;
    bench.destination.overrule((_events, text) => {
      if (refusesFirst && text.includes('"n":0,')) return { status: 400, body: 'odd' };
      if (!text.includes('"$identify"')) return undefined;
      attempts += 1;
      return { status: 500, body: 'boom' };
    });

    // The events before it tell this process that the destination takes others.
    const paused = await bench.run();
    expect(paused.code, paused.stderr).toBe(1);
    expect(paused.stderr).toMatch(/the destination refused 1 event about persons and groups.*boom/s);
    expect(bench.arrived()).toEqual(numbers(1, RECORDS));
    refusesFirst = false;
    const inRun = attempts;
    expect(inRun).toBeGreaterThanOrEqual(8);

    // Nothing was accepted in a process that only has the merge: an event from before it was begun tells it.
    const ended = await bench.command('resume', NAME, '--accept-refusals', '--json');
    expect(parseReport(ended)).toMatchObject({
      balanced: true,
      counts: { delivered: RECORDS - 1, rejected: 1 },
      people: {
        pairs: 0,
        refusedCount: 1,
        refused: [{ detail: expect.stringContaining('while other events were accepted') }],
      },
    });
    expect(ended.code, ended.stderr).toBe(3);
    expect(attempts).toBeGreaterThan(inRun);
    // Nor is the reject sent, which the destination would take by now: a replay may have corrected it.
    expect(bench.arrived()).toEqual(numbers(1, RECORDS));
  },
  600_000,
);
