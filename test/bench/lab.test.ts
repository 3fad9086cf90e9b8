import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runMeasured, splitTimes } from '../../bench/lab/run-measured.ts';
import { createRecordWriter } from '../../bench/sample-record.ts';

describe('the cost of a command', () => {
  it('is read from what the shell prints, and taken from its output', () => {
    const stdout = '{"a":1}\n\n0m0.010000s 0m0.020000s\n1m2.500000s 0m0.250000s\n';
    expect(splitTimes(stdout)).toEqual({ text: '{"a":1}', cpuMs: 62_750 });
  });

  it('includes processes that the command started', async () => {
    const burn = 'while (process.cpuUsage().user < 200_000);';
    const nested = `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(burn)}])`;
    const { cpuMs, code, stdout } = await runMeasured([
      process.execPath,
      '-e',
      `${nested}; console.log('done'); process.exitCode = 3`,
    ]);
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 3, stdout: 'done' });
    expect(cpuMs).toBeGreaterThanOrEqual(200);
  });
});

describe('the input', () => {
  it('is the same each time: records of some 2 KB, with a login after the first third of a person', () => {
    const [first, second] = [createRecordWriter(3), createRecordWriter(3)];
    const records = [0, 1, 2, 3].map((index) => first(index));
    expect([0, 1, 2, 3].map((index) => second(index))).toEqual(records);
    expect(records.map((line) => (JSON.parse(line) as { user_id: string | null }).user_id)).toEqual([
      null,
      'user-0',
      'user-0',
      null,
    ]);
    expect(records[0]?.length).toBeGreaterThan(2_000);
  });
});

describe('the peers', () => {
  it('are pinned to exact versions', () => {
    const path = new URL('../../bench/peers/package.json', import.meta.url);
    const { dependencies } = JSON.parse(readFileSync(path, 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual(
      [],
    );
  });
});
