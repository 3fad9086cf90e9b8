import { expect, it } from 'vitest';
import { groupDigits } from '../../src/lib/group-digits.ts';

it.each([0, 7, 999, 1_000, 12_345.6, 999_999.5, 1_234_567, -1_234, 9_007_199_254_740_991])(
  '%d as the locale of the United States has it',
  (value) => expect(groupDigits(value)).toBe(Math.round(value).toLocaleString('en-US')),
);
