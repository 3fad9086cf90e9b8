import fc from 'fast-check';
import { expect, it } from 'vitest';
import { losesDigits } from '../../../src/lib/json/exact-number.ts';
import {
  hasRepeatedName,
  isDeeperThan,
  markNumbers,
  mayLoseDigits,
} from '../../../src/lib/json/scan-json.ts';

const digits = fc.stringMatching(/^\d{0,20}$/);
/** Any spelling of a number, of any size. */
const numbers = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,24}$/)),
    fc.oneof(
      fc.constant(''),
      digits.filter(Boolean).map((text) => `.${text}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(450)).map((parts) => parts.join('')),
    ),
  )
  .map((parts) => parts.join(''));

it('never overlooks a number that loses digits, whatever is around it', () => {
  fc.assert(
    fc.property(numbers, fc.string(), fc.constantFrom('', ' ', '\n'), (number, text, space) => {
      for (const json of [
        number,
        `[${number}]`,
        `{"s":${JSON.stringify(text)},"n":${space}${number}${space}}`,
      ]) {
        if (losesDigits(number)) expect(mayLoseDigits(json), json).toBe(true);
        expect(markNumbers(json) !== undefined, json).toBe(losesDigits(number));
      }
    }),
    { numRuns: 5000 },
  );
});

it('takes a short number, or one in a string, for no reason to look closer', () => {
  expect(mayLoseDigits('{"id":"0001234567890123456789","b":"123.456","c":1234.5,"d":1e21}')).toBe(false);
  expect(mayLoseDigits('{"uuid":"0197f0aa-0000-7000-8e12-000000000001"}')).toBe(false);
});

it('knows how deep a text is nested, both sides of the limit', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  expect(isDeeperThan(nested(200), 200)).toBe(false);
  expect(isDeeperThan(nested(202), 200)).toBe(true);
  expect(isDeeperThan(`[${'[],'.repeat(300)}[]]`, 2)).toBe(false);
  expect(isDeeperThan(`["${'[{\\"'.repeat(300)}"]`, 2)).toBe(false);
  expect(isDeeperThan('['.repeat(5_000_000), 200)).toBe(true);
});

const member = fc.tuple(
  fc.constantFrom('a', '\\u0061', 'b', '\\"', '\\\\', '\\\\\\"', ':', '{', ']'),
  fc.constantFrom('1', '{"a":1,"a":2}', '["a",":"]', '"a"', '"\\\\"', '"\\":"', '"{"', ' null '),
);
it('finds a name that an object has twice, however it is written and whatever is inside', () => {
  fc.assert(
    fc.property(fc.array(member, { maxLength: 5 }), fc.constantFrom('', ' ', '\n'), (members, space) => {
      const text = `{${members.map(([name, value]) => `"${name}"${space}:${value}`).join(`${space},`)}}`;
      const isRepeated = Object.keys(JSON.parse(text)).length < members.length;
      expect(hasRepeatedName(text), text).toBe(isRepeated);
    }),
    { numRuns: 2000 },
  );
});
