import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPace } from '../../../src/lib/async/pace.ts';
import { BucketLines } from '../../../src/state/facts/bucket-lines.ts';

const order = fc.constantFrom('00000000', '00000001', '00ffffff', '01000000', '3fabcdef', '80000000');
/** Around the places where the orders of UTF-16 units and of UTF-8 bytes differ. */
const text = fc.string({
  unit: fc.constantFrom(
    '\t',
    'a',
    'b',
    'é',
    '\u07ff',
    '\u0800',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '\u{10ffff}',
  ),
});
const line = fc.tuple(order, text).map(([digits, rest]) => `${digits}${rest}`);

const DIGITS_OF_ORDER = 8;

function add(lines: BucketLines, one: string): void {
  lines.begin(Number.parseInt(one.slice(0, DIGITS_OF_ORDER), 16)).write(one.slice(DIGITS_OF_ORDER));
  lines.end();
}

const render = (lines: readonly string[]) => {
  const all = new BucketLines();
  for (const one of lines) add(all, one);
  return [...all.texts().buckets].map(({ bucket, body }) => [bucket, String(body)]);
};

test('the lines of each bucket come in the order of their text, whatever characters it has', () => {
  fc.assert(
    fc.property(fc.array(line, { size: '+1' }), (lines) => {
      const byBucket = new Map<number, string[]>();
      for (const one of [...lines].sort()) {
        const bucket = Number.parseInt(one.slice(0, 2), 16);
        byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), one]);
      }
      expect(render(lines)).toEqual([...byBucket].map(([bucket, own]) => [bucket, `${own.join('\n')}\n`]));
    }),
  );
});

test('more lines of one id than are compared one by one are in order', () => {
  const lines = Array.from({ length: 200 }, (_, index) => `05abcdef${(index * 7919) % 211}`);
  expect(render(lines)).toEqual([[5, `${[...lines].sort().join('\n')}\n`]]);
});

test('lines that need more room than there was are whole', () => {
  const long = Array.from(
    { length: 50 },
    (_, index) => `0${index % 4}00000${index % 10}${'é'.repeat(997 * index)}`,
  );
  expect(
    render(long)
      .map(([, text]) => text)
      .join(''),
  ).toBe(`${[...long].sort().join('\n')}\n`);
});

test('lines that begin alike are joined, whatever is between them and however many they are', async () => {
  const DIGITS = 10;
  const join = (lines: readonly string[]) => {
    const parts = lines.flatMap((one) => one.slice(DIGITS).split(','));
    return `${lines[0]?.slice(0, DIGITS)}${[...new Set(parts)].sort().join()}`;
  };
  const key = fc
    .tuple(order, fc.constantFrom('00', '01', '02', '03', '04', '05'))
    .map(([digits, more]) => `${digits}${more}`);
  const some = fc.tuple(key, fc.constantFrom('a', 'b', 'é', '😀')).map(([start, rest]) => `${start}${rest}`);
  await fc.assert(
    fc.asyncProperty(fc.array(some, { size: '+1' }), fc.constantFrom(1, 700), async (lines, times) => {
      const all = new BucketLines();
      for (let time = 0; time < times; time += 1) for (const one of lines) add(all, one);
      const byKey = new Map<string, string[]>();
      for (const one of lines) {
        const start = one.slice(0, DIGITS);
        byKey.set(start, [...(byKey.get(start) ?? []), one]);
      }
      // Where few begin alike, all are left.
      const isJoined = (lines.length * times - byKey.size) * 4 >= lines.length * times;
      const joined = await all.join(DIGITS, (some, into) => add(into, join(some)), createPace());
      expect([...joined.texts().buckets].map(({ body }) => String(body)).join('')).toBe(
        [...byKey]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .flatMap(([, own]) => (isJoined ? join(own) : own.sort()))
          .map((one) => `${one}\n`)
          .join(''),
      );
    }),
    { numRuns: 40 },
  );
});
