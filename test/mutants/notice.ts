import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MUTANTS } from './catalogue/index.ts';
import { applyEdits, type Mutant } from './mutant.ts';
import { runTests } from './run-tests.ts';
import { createScratchTree } from './scratch-tree.ts';

/** `npm run mutants`: breaks the code in one way at a time and expects its tests to fail. */
const TIMEOUT_MS = 10 * 60_000;
const tree = createScratchTree();
afterAll(() => tree.remove(), TIMEOUT_MS);

describe.each(groupByTests())('%s', { timeout: TIMEOUT_MS }, (paths, mutants) => {
  const tests = paths.split(' ');
  // Tests that fail anyway would notice everything.
  it('pass as long as nothing is broken', async () => {
    const run = await runTests(tree.root, tests);
    expect(run.failed.join('\n'), run.output).toBe('');
    expect(run.passed).toBeGreaterThan(0);
  });

  const titled = mutants.map((mutant) => [mutant.id, mutant.what, mutant] as const);
  it.each(titled)('notice %s: %s', async (_id, _what, mutant) => {
    const file = join(tree.root, mutant.file);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, applyEdits(text, mutant));
    try {
      expect((await runTests(tree.root, tests)).failed, 'no test failed').not.toEqual([]);
    } finally {
      writeFileSync(file, text);
    }
  });
});

function groupByTests() {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of MUTANTS) {
    const key = mutant.tests.join(' ');
    groups.set(key, [...(groups.get(key) ?? []), mutant]);
  }
  return [...groups];
}
