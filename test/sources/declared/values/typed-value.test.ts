import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExactNumber } from '../../../../src/lib/json/exact-number.ts';
import { BAD, createTypedValue } from '../../../../src/sources/declared/values/typed-value.ts';
import type { ColumnType } from '../../../../src/sources/declared/values/values-schema.ts';

const comma: ColumnType = { number: { decimal: ',', group: '.' } };
const point: ColumnType = { number: { decimal: '.', group: ',' } };
const blank: ColumnType = { number: { decimal: ',', group: ' ' } };

test.each<[ColumnType, unknown, unknown]>([
  ['number', ' 12.50 ', 12.5],
  ['number', '-0.5', -0.5],
  ['number', '.5', 0.5],
  ['number', '5.', 5],
  ['number', '+7', 7],
  ['number', '007', 7],
  ['number', '1e3', 1000],
  ['number', 4, 4],
  ['number', '9007199254740993', new ExactNumber('9007199254740993')],
  ['number', '1,5', BAD],
  ['number', '1,234', BAD],
  ['number', 'n/a', BAD],
  ['number', '.', BAD],
  ['number', '1 2', BAD],
  ['number', '0x10', BAD],
  ['number', 'Infinity', BAD],
  ['number', '1e999', BAD],
  ['number', true, BAD],
  ['number', [1], BAD],
  [comma, '1.234.567,89', 1234567.89],
  [comma, '1234,5', 1234.5],
  [comma, '0,5', 0.5],
  [comma, '1.23', BAD],
  [comma, '1.2345', BAD],
  [point, '1,234.5', 1234.5],
  [point, '12,34', BAD],
  [blank, '1\u00a0234,5', 1234.5],
  [blank, '1 234', 1234],
  ['boolean', 'TRUE', true],
  ['boolean', ' no ', false],
  ['boolean', 1, true],
  ['boolean', '0', false],
  ['boolean', false, false],
  ['boolean', 'ja', BAD],
  ['boolean', 2, BAD],
  ['boolean', {}, BAD],
  ['json', '{"a":[1]}', { a: [1] }],
  ['json', '{a}', BAD],
  ['json', { a: 1 }, { a: 1 }],
  ['text', 7, '7'],
  ['text', true, 'true'],
  ['text', {}, BAD],
  ['epoch_s', '1682942400', '2023-05-01T12:00:00.000Z'],
  ['epoch_ms', 1682942400123, '2023-05-01T12:00:00.123Z'],
  ['epoch_us', '1682942400123456', '2023-05-01T12:00:00.123Z'],
  ['epoch_s', '2023-05-01', BAD],
  ['epoch_ms', '1682942400', BAD],
])('%j reads %j as %j', (type, value, expected) => {
  expect(createTypedValue(type).read(value)).toEqual(expected);
});

test('never throws, whatever the value', () => {
  const types: ColumnType[] = [
    'text',
    'number',
    'boolean',
    'json',
    'epoch_s',
    'epoch_us',
    comma,
    point,
    blank,
  ];
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.anything(), (type, value) => {
      createTypedValue(type).read(value);
    }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...types),
      fc.string({ unit: fc.constantFrom(...'0123456789.,+-eE \'"[{') }),
      (type, text) => {
        createTypedValue(type).read(text);
      },
    ),
  );
});

test('reads a written number back, whatever it is written with', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: 0, max: 99 }), (whole, cents) => {
      const digits = String(Math.abs(whole)).replace(/\B(?=(\d{3})+$)/g, '.');
      const text = `${whole < 0 ? '-' : ''}${digits},${String(cents).padStart(2, '0')}`;
      expect(createTypedValue(comma).read(text)).toBe(Number(`${whole}.${String(cents).padStart(2, '0')}`));
    }),
  );
});
