import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  HEARD_TIME,
  isHeardTime,
  joinTimes,
  toCountedTime,
  toFirstTime,
  toHeardTime,
} from '../../src/contract/heard-time.ts';

const anyTime = fc.nat({ max: 4 }).map((day) => `2023-01-0${day + 1}T00:00:00.000Z`);
const anyOne = fc.oneof(anyTime, anyTime.map(toHeardTime), fc.constant(HEARD_TIME));

test('times of one fact are joined in any order, however often', () => {
  fc.assert(
    fc.property(anyOne, anyOne, anyOne, (a, b, c) => {
      expect(joinTimes(a, b)).toBe(joinTimes(b, a));
      expect(joinTimes(joinTimes(a, b), c)).toBe(joinTimes(a, joinTimes(b, c)));
      expect(joinTimes(joinTimes(a, b), b)).toBe(joinTimes(a, b));
    }),
  );
});

test('a fact counts from its own first time, and is true from the first one of all', () => {
  fc.assert(
    fc.property(fc.array(anyTime), fc.array(anyTime, { minLength: 1 }), (counted, heard) => {
      const joined = [...counted, ...heard.map(toHeardTime)].reduce(joinTimes);
      expect(isHeardTime(joined)).toBe(counted.length === 0);
      expect(toCountedTime(joined)).toBe(counted.toSorted()[0] ?? HEARD_TIME);
      expect(toFirstTime(joined)).toBe([...counted, ...heard].toSorted()[0]);
      expect(toFirstTime(toHeardTime(joined))).toBe(toFirstTime(joined));
    }),
  );
});

test('nothing says when a fact was true whose record has no time', () => {
  expect(toHeardTime(HEARD_TIME)).toBe(HEARD_TIME);
  expect(joinTimes(HEARD_TIME, toHeardTime('2023-01-01T00:00:00.000Z'))).toBe(
    toHeardTime('2023-01-01T00:00:00.000Z'),
  );
});
