import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts';
import { PropertyRows } from '../../../src/state/facts/property-rows.ts';

const T1 = '2023-01-01T00:00:00.000Z';
const T2 = '2023-01-02T00:00:00.000Z';
const key = fc.oneof(fc.constantFrom('a', '"', '\\', 'x":1,"y', '__proto__', 'ü\t', '\ud800'), fc.string());
const values = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 8 });

const list = (rows: PropertyRows) =>
  Array.from({ length: rows.count }, (_, row) => [rows.getKey(row), rows.getTime(row), rows.getText(row)]);
const toList = (all: Readonly<Record<string, unknown>>, time: string) =>
  Object.keys(all)
    .sort()
    .map((name) => [name, time, canonicalJson(all[name])]);

it('rows are the members of snapshots, and properties that were added one by one', () => {
  const rows = new PropertyRows();
  fc.assert(
    fc.property(values, values, (a, b) => {
      rows.begin();
      rows.addSnapshot(T2, canonicalJson(a));
      for (const [name, time, text] of toList(b, T1)) rows.add(String(name), String(time), String(text));
      expect(list(rows)).toEqual([...toList(a, T2), ...toList(b, T1)]);
      for (let row = 0; row < rows.count; row += 1) {
        const text = rows.bytes.toString('utf8', rows.getStart(row), rows.stops[row]);
        expect(text).toBe(`${JSON.stringify(rows.getKey(row))}:${rows.getText(row)}`);
        expect(rows.countUnits(row)).toBe(rows.getText(row).length);
      }
    }),
    { numRuns: 300 },
  );
});

it('rows are sorted by key, and those of one key by time, the latest first', () => {
  const rows = new PropertyRows();
  rows.begin();
  rows.addSnapshot(T1, '{"z":0}');
  rows.addSnapshot(T1, '{"a":1,"b":2}');
  rows.addSnapshot(T2, '{"a":3}');
  rows.sort(1);
  expect(list(rows)).toEqual([
    ['z', T1, '0'],
    ['a', T2, '3'],
    ['a', T1, '1'],
    ['b', T1, '2'],
  ]);
});

it('a name is one object in a subject, however many names there were before', () => {
  const rows = new PropertyRows();
  for (let subject = 0; subject < 400; subject += 1) {
    const own = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`id-${subject}-${at}`, at]));
    const all = { ...own, plan: 'team' };
    rows.begin();
    rows.addSnapshot(T2, canonicalJson(all));
    rows.addSnapshot(T1, canonicalJson(all));
    for (let row = 0; row < 51; row += 1) expect(rows.names[row]).toBe(rows.names[row + 51]);
  }
});

it.each(['{"a":1', '{"a', '{"a":"x}', '{"\\u0061":1}'])('text that is no snapshot is refused: %s', (text) => {
  const rows = new PropertyRows();
  rows.begin();
  expect(() => rows.addSnapshot(T1, text)).toThrow();
});

it('keeps no names that were forgotten, whatever the subject before had', () => {
  const rows = new PropertyRows();
  rows.begin();
  for (let at = 0; at < 20_000; at += 1) rows.add(`a name that no other subject has ${at}`, T1, '1');
  rows.begin();
  rows.add('a', T1, '1');
  expect(rows.names).toHaveLength(1);
});
