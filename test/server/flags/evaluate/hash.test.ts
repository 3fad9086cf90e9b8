import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileFlags } from '../../../../src/server/flags/evaluate/compile-flags.ts';
import { decideFlags } from '../../../../src/server/flags/evaluate/decide.ts';
import { hashForRollout, hashForVariant } from '../../../../src/server/flags/evaluate/hash.ts';
import { makeFlag, person } from '../flag-lab.ts';

/**
 * Computed with Python alone: `int(hashlib.sha1(text).hexdigest()[:15], 16) / float(0xFFFFFFFFFFFFFFF)` of
 * `simple-flag.<id>` up to 0.45; of `multivariate-flag.<id>` up to 0.55 and then of `multivariate-flag.<id>variant`
 * over shares of 50, 20, 20, 5 and 5 (the number of the variant, 0 for none); of `holdout-<id>` up to 0.10.
 */
const VECTORS = JSON.parse(
  readFileSync(new URL('../../../fixtures/flag-hashes.json', import.meta.url), 'utf8'),
) as { simple: string; multivariate: string; holdout: string; shares: [string, number, number][] };

const IDS = Array.from({ length: 1000 }, (_, index) => `distinct_id_${index}`);

const valuesOf = (filters: object, key: string) => {
  const flags = compileFlags([makeFlag(key, filters)], new Map());
  return IDS.map((id) => decideFlags(flags, person(id)).decided.get(key)?.value);
};

describe('1,000 ids', () => {
  test('of a flag with a share of 45%', () => {
    const values = valuesOf({ groups: [{ properties: [], rollout_percentage: 45 }] }, 'simple-flag');
    expect(values.map((value) => (value ? '1' : '0')).join('')).toBe(VECTORS.simple);
  });

  test('of five variants', () => {
    const shares = { first: 50, second: 20, third: 20, fourth: 5, fifth: 5 };
    const names = Object.keys(shares);
    const variants = Object.entries(shares).map(([key, rollout_percentage]) => ({ key, rollout_percentage }));
    const values = valuesOf(
      { groups: [{ properties: [], rollout_percentage: 55 }], multivariate: { variants } },
      'multivariate-flag',
    );
    expect(values.map((value) => names.indexOf(String(value)) + 1).join('')).toBe(VECTORS.multivariate);
  });

  test('of a holdout of 10%', () => {
    const holdout = { id: 7, exclusion_percentage: 10 };
    const values = valuesOf({ groups: [], holdout }, 'any');
    expect(values.map((value) => (value === 'holdout-7' ? '1' : '0')).join('')).toBe(VECTORS.holdout);
  });
});

test.each(VECTORS.shares)('%j has the shares of any other client', (id, rollout, variant) => {
  expect(hashForRollout('simple-flag', id)).toBe(rollout);
  expect(hashForVariant('simple-flag', id)).toBe(variant);
});
