import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { createWorkplace } from '../support/workplace.ts';

const TIMEOUT_MS = 120_000;
afterEach(killAllBackhaul);

const record = (e: string, t: string) => JSON.stringify({ e, u: 'ann', t });

it(
  'what the API accepts and does not store as it was sent is rejected, and report and API agree',
  async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    writeFileSync(
      join(workplace.folder, 'in.jsonl'),
      [
        record('Opened', '2023-05-01T12:00:00Z'),
        record('Opened', '2099-01-01T00:00:00Z'),
        record('$performance_event', '2023-05-01T12:00:00Z'),
        record('$pageview', '2023-05-01T12:00:00Z'),
      ].join('\n'),
    );
    const options = { dataDir: await workplace.readyDataDir('not-stored') };
    const manifest = workplace.manifest({
      name: 'not-stored',
      source: {
        type: 'jsonl',
        from: 'in.jsonl',
        mapping: { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } },
      },
      rejects: { failAbove: '100%' },
    });
    const ended = await runBackhaul(['run', '--json', manifest], options);
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({
      counts: { read: 4, delivered: 2, rejected: 2 },
      byReason: { in_the_future: 1, bad_field: 1 },
      byDay: { '2099-01-01': { rejected: 1 } },
      byEvent: { $performance_event: { rejected: 1 } },
    });
    const verified = await runBackhaul(['verify', 'not-stored'], options);
    expect(verified.code, verified.stdout).toBe(0);
  },
  TIMEOUT_MS,
);
