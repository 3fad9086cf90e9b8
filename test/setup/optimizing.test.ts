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

test('what a run uses of Node.js is there before a flag is set, after which V8 compiles it anew', async () => {
  const files = ['runtime/queues', 'deliver/send', 'migrations/start', 'migrations/notify/post-message'];
  const urls = files.map((file) => new URL(`../../dist/src/${file}.js`, import.meta.url).href);
  const script = `
    await import(${JSON.stringify(new URL('setup.mjs', MODULE).href)});
    const { loadPartsOfNode } = await import(${JSON.stringify(MODULE)});
    await loadPartsOfNode();
    const before = new Set(process.moduleLoadList);
    for (const url of ${JSON.stringify(urls)}) await import(url);
    const late = process.moduleLoadList.filter((name) => !before.has(name));
    process.stdout.write(late.filter((name) => /^NativeModule (?!internal)/.test(name)).join());`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe('');
});
