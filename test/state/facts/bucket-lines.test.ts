import fc from 'fast-check';
import { expect, test } from 'vitest';
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

const render = (lines: readonly string[]) => {
  const all = new BucketLines();
  for (const one of lines) all.add(one);
  return [...all.texts()].map(({ bucket, body }) => [bucket, String(body)]);
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
