import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const MODULE = new URL('../../src/setup/heap.mjs', import.meta.url).href;

const LIMIT_MB = 20;

/**
 * The greatest size of the young generation of a process that keeps much of what it allocates for a while: V8 also shrinks
 * it. It ends once that is above the limit; when V8 lets it grow depends on what else the machine does.
 */
async function measure(rounds: number, prepare = ''): Promise<number> {
  const script = `
    const { limitYoungGeneration, readYoungBytes } = await import(${JSON.stringify(MODULE)});
    ${prepare}
    let kept = [];
    let most = 0;
    for (let round = 0; round < ${rounds} && most <= ${LIMIT_MB * 2 ** 20}; round += 1) {
      for (let each = 0; each < 2_000; each += 1) kept.push({ round, each, text: 'x'.repeat(20) + each });
      if (kept.length > 40_000) kept = [];
      await new Promise((resolve) => setTimeout(resolve, 1));
      most = Math.max(most, readYoungBytes());
    }
    process.stdout.write(String(most));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout) / 2 ** 20;
}

test('the young generation stays at two halves of a few megabytes', async () => {
  expect(await measure(8_000)).toBeGreaterThan(LIMIT_MB);
  const limited: number[] = [];
  // A process that gets no turn for long enough doubles it once more before it looks.
  while (limited.length < 3 && !limited.some((most) => most < LIMIT_MB))
    limited.push(await measure(400, 'limitYoungGeneration();'));
  expect(Math.min(...limited)).toBeLessThan(LIMIT_MB);
});

/** How often a process collects all garbage whose memory grows to 400 MB. */
async function countCollections(prepare: string): Promise<number> {
  const script = `
    const { collectLessOften } = await import(${JSON.stringify(MODULE)});
    const { PerformanceObserver, constants } = await import('node:perf_hooks');
    const { setFlagsFromString } = await import('node:v8');
    ${prepare}
    let count = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count += 1;
    });
    observer.observe({ entryTypes: ['gc'] });
    const kept = [];
    for (let round = 0; round < 500; round += 1) {
      kept.push(new Array(100_000).fill(round + 0.5));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.stdout.write(String(kept.length === 500 ? count : -1));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}

test('a process that V8 lets grow by a tenth alone collects all garbage less often from then on', async () => {
  const byATenth = "setFlagsFromString('--heap-growing-percent=10');";
  const collectAt = (megabytes: number) =>
    countCollections(
      `${byATenth} process.memoryUsage.rss = () => ${megabytes * 2 ** 20}; collectLessOften();`,
    );
  const before = await countCollections(byATenth);
  expect(before).toBeGreaterThan(6);
  const small = await collectAt(199);
  expect(small).toBeLessThan(before / 2);
  const large = await collectAt(201);
  expect(large).toBeGreaterThan(small);
  expect(large).toBeLessThan(before);
});
