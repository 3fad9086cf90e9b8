import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  mergePersonsTally,
  tallyUnmerged,
  UNMERGED_SAMPLE,
  unmergedReason,
} from '../../src/identity/persons-tally.ts';

const anyUnmerged = fc.array(
  fc.record({
    reason: fc.constantFrom(...unmergedReason.options),
    id: fc.nat(60).map((number) => `d${number}`),
  }),
  { maxLength: 80 },
);

test('adding up is the same in every order and grouping', () => {
  fc.assert(
    fc.property(anyUnmerged, anyUnmerged, anyUnmerged, (a, b, c) => {
      const [x, y, z] = [tallyUnmerged(a), tallyUnmerged(b), tallyUnmerged(c)];
      const whole = tallyUnmerged([...a, ...b, ...c]);
      expect(mergePersonsTally(mergePersonsTally(x, y), z)).toEqual(whole);
      expect(mergePersonsTally(z, mergePersonsTally(y, x))).toEqual(whole);
    }),
  );
});

test('all are counted, and a bounded number of each reason is named', () => {
  const many = Array.from({ length: 500 }, (_, n) => ({ reason: 'shared_device' as const, id: `d${n}` }));
  const tally = tallyUnmerged([...many, { reason: 'junk_id', id: 'null' }]);
  expect(tally.setAside).toEqual({ shared_device: 500, junk_id: 1 });
  expect(tally.setAsideSample).toHaveLength(UNMERGED_SAMPLE + 1);
});
