import { expect, it, onTestFinished } from 'vitest';
import type { RunStatus } from '../../src/migrations/run/run-status.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { ALL } from '../support/form.ts';
import { importing, line, openMigrationLab } from '../support/migration-lab.ts';

/** Three windows of a budget, and some: the budget is a matter of minutes, so this takes three of them. */
const CAP = 600;
const BATCH = 50;
const EVENTS = 2_100;
const MINUTE_MS = 60_000;
/** The last seconds are short for any share: at the end, requests and a busy machine take some of them. */
const LAST_MS = 30_000;
const AT_MOST_MS = 6_000;

it.runIf(ALL)(
  'the time left moves by less than a tenth after the first minute of a real run',
  async () => {
    const lab = await openMigrationLab({ latencyMs: 300 });
    onTestFinished(lab.close);
    const loaded = await lab.writeManifest('steady', {
      limits: { eventsPerMinute: CAP, batch: { events: BATCH } },
    });
    const lines = Array.from({ length: EVENTS }, (_, index) => line(`steady-${index + 10}`));
    lab.writeFile('steady', 'b.json', lines);
    const measured: { atMs: number; leftMs: number }[] = [];
    let beginMs = 0;
    const onStatus = ({ phase, speed: { secondsLeft } }: RunStatus) => {
      if (phase !== 'import') return;
      const atMs = performance.now();
      beginMs ||= atMs;
      if (secondsLeft !== undefined) measured.push({ atMs, leftMs: secondsLeft * 1_000 });
    };
    expect((await startMigration(lab.runtime, loaded, importing({ onStatus }))).kind).toBe('finished');
    const endMs = performance.now();
    expect(endMs - beginMs).toBeGreaterThan(3 * MINUTE_MS);
    const off = measured
      .filter(({ atMs }) => atMs - beginMs > MINUTE_MS && endMs - atMs > LAST_MS)
      .map(({ atMs, leftMs }) => ({ trueMs: endMs - atMs, offMs: Math.abs(leftMs - (endMs - atMs)) }));
    expect(off.length).toBeGreaterThan(10);
    for (const { trueMs, offMs } of off) expect(offMs).toBeLessThan(Math.max(AT_MOST_MS, 0.1 * trueMs));
  },
  600_000,
);
