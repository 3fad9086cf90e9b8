import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const MODULE = new URL('../../src/setup/optimizing.mjs', import.meta.url).href;

/** Whether V8 optimizes a small function that is called so many times. */
async function isOptimized(calls: number, prepare: string): Promise<boolean> {
  const script = `
    const { optimizeLate } = await import(${JSON.stringify(MODULE)});
    ${prepare}
    let sum = 0;
    function addUp(by) { sum += by % 7; }
    for (let call = 0; call < ${calls}; call += 1) addUp(call);`;
  const { stdout } = await run(process.execPath, ['--trace-opt', '--input-type=module', '--eval', script]);
  return /completed optimizing [^\n]*addUp/.test(stdout);
}

test('what runs a few thousand times is not optimized, what runs a million times is', async () => {
  expect(await isOptimized(10_000, '')).toBe(true);
  expect(await isOptimized(10_000, 'optimizeLate();')).toBe(false);
  expect(await isOptimized(1_000_000, 'optimizeLate();')).toBe(true);
});
