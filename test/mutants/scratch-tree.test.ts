import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { removeAbandoned } from './scratch-tree.ts';

it('removes the trees of runs that were killed, and no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backhaul-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const [abandoned, living, foreign] = [
    `backhaul-mutants-${ended}-a1`,
    `backhaul-mutants-${process.ppid}-b2`,
    'backhaul-mutants-of-somebody',
  ].map((name) => join(folder, name)) as [string, string, string];
  for (const path of [abandoned, living, foreign]) mkdirSync(path);

  removeAbandoned(folder);
  expect([abandoned, living, foreign].map((path) => existsSync(path))).toEqual([false, true, true]);
});
