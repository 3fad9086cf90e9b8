import { afterEach, expect, it } from 'vitest';
import {
  killAllBackhaul,
  parseReport,
  runBackhaul,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { compareSets, fetchEvents, SAME } from '../support/event-set.ts';
import { ALL } from '../support/form.ts';
import { createWorkplace, writeExports } from '../support/workplace.ts';

const TIMEOUT_MS = 120_000;
afterEach(killAllBackhaul);

it(
  'importing the same export twice, under two names, adds nothing',
  async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    await writeExports(workplace, { files: 2, records: ALL ? 1_500 : 400 });
    const options = { dataDir: await workplace.readyDataDir('twice') };
    const { api } = await waitForServices(options.dataDir, startBackhaul(['serve'], options));
    if (api === undefined) throw new Error('serve has published no API');
    const runAs = async (name: string) => {
      const manifest = workplace.manifest({
        name,
        source: { type: 'amplitude', from: 'exports' },
        rejects: { failAbove: '5%' },
      });
      const ended = await runBackhaul(['run', '--json', manifest], options);
      expect(ended.code, ended.stderr).toBe(0);
      return { report: parseReport(ended), events: await fetchEvents(api) };
    };

    const first = await runAs('first');
    const second = await runAs('second');
    expect(first.events.size).toBe(first.report.events.accepted + first.report.events.synthetic);
    expect(compareSets(second.events, first.events)).toEqual(SAME);
    const { counts, events, byDay, byEvent, byReason } = first.report;
    // What the first has sent about persons is not sent again.
    expect(second.report).toMatchObject({
      balanced: true,
      counts,
      events: { ...events, synthetic: 0 },
      byDay,
      byEvent,
      byReason,
      people: { pairs: 0, mergedBefore: first.report.people.pairs },
    });
    expect(counts.delivered).toBeGreaterThan(400);
  },
  TIMEOUT_MS,
);
