import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  mergePeopleTally,
  SET_ASIDE_SAMPLE,
  setAsideReason,
  tallySetAside,
} from '../../src/people/people-tally.ts';

const setAsides = fc.array(
  fc.record({
    reason: fc.constantFrom(...setAsideReason.options),
    id: fc.nat(60).map((number) => `d${number}`),
  }),
  { maxLength: 80 },
);

test('adding up is the same in every order and grouping', () => {
  fc.assert(
    fc.property(setAsides, setAsides, setAsides, (a, b, c) => {
      const [x, y, z] = [tallySetAside(a), tallySetAside(b), tallySetAside(c)];
      const whole = tallySetAside([...a, ...b, ...c]);
      expect(mergePeopleTally(mergePeopleTally(x, y), z)).toEqual(whole);
      expect(mergePeopleTally(z, mergePeopleTally(y, x))).toEqual(whole);
    }),
  );
});

test('all are counted, and a bounded number of each reason is named', () => {
  const many = Array.from({ length: 500 }, (_, n) => ({ reason: 'shared_device' as const, id: `d${n}` }));
  const tally = tallySetAside([...many, { reason: 'junk_id', id: 'null' }]);
  expect(tally.setAside).toEqual({ shared_device: 500, junk_id: 1 });
  expect(tally.setAsideSample).toHaveLength(SET_ASIDE_SAMPLE + 1);
});
