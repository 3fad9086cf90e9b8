import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Verification } from '../../src/migrations/verify/verify.ts';
import { createJsonlBench, line, NAME } from '../e2e/jsonl-bench.ts';
import { killAllBackhaul, runBackhaul } from '../support/backhaul-process.ts';

afterEach(killAllBackhaul);

describe('rehearse', () => {
  it('sends nothing to the destination, whatever manifest and settings say, and compares', async (context) => {
    const bench = await createJsonlBench(context, {
      more: { persons: 'hold', schedule: { cron: '0 6 * * *' } },
    });
    bench.put('a.json', `${line(1)}\n${line(2)}\n${line(3)}\n`);
    bench.put('b.json', `${line(4)}\n${line(5)}\n${line(6)}\n`);
    const manifest = bench.manifest();
    const rehearse = (...args: string[]) =>
      runBackhaul(['rehearse', manifest, ...args], {
        dataDir: bench.dataDir,
        // Where a run would go, and nothing of it is there.
        env: {
          REDIS_URL: 'redis://127.0.0.1:1',
          DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
          BACKHAUL_STAGING: 's3://none/none',
          BACKHAUL_S3_ENDPOINT: 'http://127.0.0.1:1',
          BACKHAUL_WEBHOOK_URL: bench.destination.url,
          BACKHAUL_WEBHOOK_SECRET: `whsec_${'a'.repeat(32)}`,
          BACKHAUL_WEBHOOK_ALLOW_PRIVATE: 'true',
        },
      });
    const sampled = await rehearse('--sample', '2', '--json');
    expect(sampled.code, sampled.stderr).toBe(0);
    expect(sampled.stderr).toContain('Rehearsing with 4 records of 2 files.');
    const result = JSON.parse(sampled.stdout.trimEnd().split('\n').at(-1) ?? '') as Verification;
    expect(result).toMatchObject({
      migration: `${NAME}.rehearsal`,
      destination: 'bundled API',
      unexplained: 0,
    });
    expect(result.comparisons[0]?.total).toMatchObject({ old: 4, now: 4 });

    const whole = await rehearse();
    expect(whole.code, whole.stderr).toBe(0);
    expect(whole.stdout).toContain('all events: report 6, destination 6');
    const folder = join(bench.dataDir, 'rehearsals', NAME);
    expect(readFileSync(join(folder, 'comparison.html'), 'utf8')).toContain('old against new');
    expect(whole.stderr).toContain(join(folder, 'comparison.html'));
    expect(bench.destination.requests).toEqual([]);
    expect(existsSync(join(bench.dataDir, 'staging'))).toBe(false);
  }, 240_000);

  it('ends as the run does where that does not finish', async (context) => {
    const bench = await createJsonlBench(context);
    bench.put('a.json', 'broken\n');
    const ended = await runBackhaul(['rehearse', bench.manifest()], { dataDir: bench.dataDir });
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.stdout).toContain('all events: report 0, destination 0');
    const wrong = await runBackhaul(['rehearse', bench.manifest(), '--sample', '0'], {
      dataDir: bench.dataDir,
    });
    expect(wrong.code).toBe(2);
  }, 240_000);
});
