import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { removeAtExit } from '../../bench/lab/at-exit.ts';
import { startRedis } from '../../bench/lab/redis.ts';
import { runMeasured, splitTimes } from '../../bench/lab/run-measured.ts';
import { createRecordWriter } from '../../bench/sample-record.ts';
import { until } from '../support/until.ts';

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

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

describe('a benchmark that is told to end', () => {
  it('ends what writes to its folder, and then removes the folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backhaul-bench-'));
    const before = new Set(process.rawListeners('exit'));
    removeAtExit(folder);
    const write = `
      const { mkdirSync, writeFileSync } = require('node:fs');
      const endMs = Date.now() + 20_000;
      for (let i = 0; Date.now() < endMs; i += 1) {
        const part = process.argv[1] + '/parts/' + (i % 500);
        mkdirSync(part, { recursive: true });
        writeFileSync(part + '/' + i, '');
      }`;
    const writing = runMeasured([process.execPath, '-e', write, folder]);
    await until('it to write', () => (existsSync(join(folder, 'parts/499')) ? true : undefined));
    for (const end of process.rawListeners('exit')) if (!before.has(end)) end();
    expect((await writing).code).toBeNull();
    expect(existsSync(folder)).toBe(false);
  });

  it('ends its Redis, whose folder is gone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backhaul-bench-'));
    const redis = await startRedis(folder, []);
    rmSync(folder, { recursive: true, force: true });
    process.kill(redis.pid, 'SIGTERM');
    await pause(1_000);
    const isLeft = isRunning(redis.pid);
    if (isLeft) process.kill(redis.pid, 'SIGKILL');
    await redis.stop();
    expect(isLeft).toBe(false);
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
