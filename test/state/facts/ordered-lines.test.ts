import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lines } from '../../../src/state/facts/fact-object.ts';
import { OrderedLines } from '../../../src/state/facts/ordered-lines.ts';

const order = fc.constantFrom('00000000', '00000001', '00ffffff', '3fabcdef', '80ffffff');
const rest = fc.string({ unit: fc.constantFrom('a', 'b', '\t', 'é', '😀') });
const objects = fc.array(fc.array(fc.tuple(order, rest)), { maxLength: 4 });

const readOrder = (line: string) => Number.parseInt(line.slice(0, 8), 16);
const toLines = (texts: readonly string[], where = 'x') =>
  new Lines(Buffer.from(texts.map((text) => `${text}\n`).join('')), where, 'here');
const list = <T>(lines: OrderedLines<T>) =>
  Array.from({ length: lines.sort() }, (_, place) => [lines.getOrder(place), lines.parse(place)]);
const EVERY = { getOrder: () => 0, isWanted: () => true };

test('lines of all objects come by their order, and those of one order as they were added', () => {
  fc.assert(
    fc.property(objects, (all) => {
      const ordered = new OrderedLines<string>();
      const texts = all.map((object) => object.map(([digits, text]) => `${digits}${text}`));
      for (const [at, object] of texts.entries())
        ordered.add(toLines(object), (line) => `${at} ${line}`, EVERY);
      const expected = texts
        .flatMap((object, at) => object.map((line) => [readOrder(line), `${at} ${line}`] as const))
        .sort(([a], [b]) => a - b);
      expect(list(ordered)).toEqual(expected);
    }),
  );
});

test('a line of an earlier version has the order of what it says', () => {
  const ordered = new OrderedLines<string>();
  const lines = toLines(['00000002b', '{"kind":"user"}', '00000000a']);
  ordered.add(lines, (line) => line, { getOrder: () => 1, isWanted: () => true });
  expect(list(ordered)).toEqual([
    [0, '00000000a'],
    [1, '{"kind":"user"}'],
    [2, '00000002b'],
  ]);
});

test('only the lines that are wanted are read', () => {
  const ordered = new OrderedLines<string>();
  const isWanted = (at: number) => at === 1;
  ordered.add(toLines(['00000000a', '00000001b']), (line) => line, { getOrder: () => 0, isWanted });
  expect(list(ordered)).toEqual([[1, '00000001b']]);
});

test('a line that cannot be read names its object', () => {
  const ordered = new OrderedLines<never>();
  const refuse = () => {
    throw new Error('none');
  };
  ordered.add(toLines(['00000000a'], 'shop/receipts/abc/00000.json'), refuse, EVERY);
  expect(() => list(ordered)).toThrow(/shop\/receipts\/abc\/00000\.json is not what Backhaul wrote there/);
});
