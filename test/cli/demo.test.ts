import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { generateAmplitudeExport } from '../../src/demo/generate-amplitude-export.ts';
import { killAllBackhaul, readPid, runBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { until } from '../support/until.ts';

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'backhaul-demo-'));
}, 300_000);
afterEach(killAllBackhaul);
afterAll(() => rm(dataDir, { recursive: true, force: true }));

describe('backhaul demo', () => {
  it('ends with the report that its generated export asks for, and with the events at the API', async () => {
    const facts = await generateAmplitudeExport(join(dataDir, 'same.zip'), {
      seed: 1,
      events: 4_000,
      persons: 300,
    });
    const ended = await runBackhaul(['demo', '--events', '4000', '--json'], { dataDir });
    expect(ended.code, ended.stderr).toBe(0);

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

    const keeping = startBackhaul(['demo', '--events', '100', '--keep'], { dataDir });
    await until(
      'the demo to be kept',
      () => keeping.stderr().includes('Ctrl-C stops everything') || undefined,
    );
    const second = await runBackhaul(['demo', '--events', '100'], { dataDir });
    expect(second.code, second.stderr).toBe(2);
    expect(second.stderr).toContain('a demo is running in');
    keeping.kill('SIGTERM');
    expect((await keeping.ended).code).toBe(0);

    const embedded = join(dataDir, 'demo/data');
    for (const part of ['redis', 'api'] as const) expect(readPid(embedded, part)).toBeUndefined();
  }, 120_000);
});
