import { expect, test } from 'vitest';
import { layout } from '../../src/state/keys.ts';
import { recoveryHint } from '../../src/state/recovery-hint.ts';

test('names all that a migration consists of, whichever object of it is at fault', () => {
  const keys = layout('shop.2024');
  const advice = `restore it, or remove both ${keys.prefix} and ${keys.record} and run the migration again (nothing is delivered twice)`;
  for (const key of [keys.record, keys.control, keys.receipt('abc/00001'), keys.resolvedFacts]) {
    expect(recoveryHint(key)).toBe(advice);
  }
});
