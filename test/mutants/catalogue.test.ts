import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EQUIVALENTS, MUTANTS } from './catalogue/index.ts';
import { applyEdits } from './mutant.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

it('every mutant still fits the code', () => {
  for (const mutant of MUTANTS) {
    const text = readFileSync(join(ROOT, mutant.file), 'utf8');
    expect(applyEdits(text, mutant), mutant.id).not.toBe(text);
  }
});

it('every mutant names tests that exist', () => {
  const missing = MUTANTS.flatMap(({ id, tests }) =>
    tests.filter((path) => !existsSync(join(ROOT, path))).map((path) => `${id}: ${path}`),
  );
  expect(missing).toEqual([]);
});

it('every mutant and every equivalent has an id of its own', () => {
  const ids = [...MUTANTS, ...EQUIVALENTS].map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
