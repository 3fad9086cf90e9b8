import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generateAmplitudeExport } from '../../src/demo/generate-amplitude-export.ts';
import {
  type BackhaulProcess,
  type Ended,
  killAllBackhaul,
  readPid,
  runBackhaul,
  startBackhaul,
} from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { until } from '../support/until.ts';

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'backhaul-demo-'));
}, 300_000);
afterEach(killAllBackhaul);
afterAll(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }));

const isKept = (demo: BackhaulProcess) => demo.stderr().includes('Ctrl-C stops everything') || undefined;

/** The report that the generated export asks for, and the events at the API. */
async function expectArrived(ended: Ended): Promise<void> {
  expect(ended.code, ended.stderr).toBe(0);
  const facts = await generateAmplitudeExport(join(dataDir, 'same.zip'), {
    seed: 1,
    events: 4_000,
    persons: 300,
  });
  const [report, arrived] = ended.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { no_identity, bad_timestamp, unreadable } = facts.rejected;
  const { session_marker, feeds_people, feeds_groups } = facts.skipped;
  expect(report).toMatchObject({
    balanced: true,
    counts: {
      read: facts.records,
      delivered: facts.delivered,
      duplicate: facts.duplicates,
      skipped: session_marker + feeds_people + feeds_groups,
      rejected: no_identity + bad_timestamp + unreadable,
    },
    people: { pairs: facts.persons.pairs, groups: facts.persons.groups },
  });
  expect(arrived.eventCounts.total).toBe(report.events.accepted + report.events.synthetic);
  expect(arrived.person.properties).toHaveProperty('email');
  expect(arrived.history.length).toBeGreaterThan(0);
}

function expectNothingRuns(): void {
  const embedded = join(dataDir, 'demo/data');
  for (const part of ['redis', 'api'] as const) expect(readPid(embedded, part)).toBeUndefined();
}

describe('backhaul demo', () => {
  it('with --keep runs on behind its report, refuses a second demo, and ends with the signal', async () => {
    const keeping = startBackhaul(['demo', '--events', '4000', '--json', '--keep'], { dataDir });
    await until('the demo to be kept', () => isKept(keeping), 180_000);
    const second = await runBackhaul(['demo', '--events', '100'], { dataDir });
    expect(second.code, second.stderr).toBe(2);
    expect(second.stderr).toContain('a demo is running in');
    keeping.kill('SIGTERM');
    await expectArrived(await keeping.ended);
    expectNothingRuns();
  }, 240_000);

  it.runIf(ALL)(
    'ends by itself behind its report',
    async () => {
      await expectArrived(await runBackhaul(['demo', '--events', '4000', '--json'], { dataDir }));
      expectNothingRuns();
    },
    120_000,
  );
});
