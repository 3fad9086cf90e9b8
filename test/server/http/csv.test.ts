import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { fileName } from '../../../src/server/http/content-negotiation.ts';
import {
  collectColumns,
  FURTHER,
  flatten,
  MAX_COLUMNS,
  orderColumns,
  renderCell,
  renderHeader,
  renderRow,
} from '../../../src/server/http/csv.ts';

function table(rows: readonly unknown[]): string {
  const names = new Set<string>();
  collectColumns(names, rows);
  const columns = orderColumns(names);
  return renderHeader(columns) + rows.map((row) => renderRow(row, columns)).join('');
}

test('nested members become columns, named by their path and sorted', () => {
  const rows = [
    { name: 'Ada', properties: { $os: 'Linux', tags: ['a', { b: 1 }] }, distinct_ids: ['x', 'y'] },
    { name: 'Bob', properties: { age: 5, empty: {}, none: null }, distinct_ids: [] },
  ];
  expect(table(rows)).toBe(
    'distinct_ids.0,distinct_ids.1,name,properties.$os,properties.age,properties.none,properties.tags.0,properties.tags.1.b\r\n' +
      'x,y,Ada,Linux,,,a,1\r\n' +
      ',,Bob,,5,,,\r\n',
  );
});

test.each([
  ['text', 'text'],
  ['', ''],
  [null, ''],
  [undefined, ''],
  [true, 'true'],
  [-5, '-5'],
  [1.5, '1.5'],
  [new ExactNumber('-1234567890123456789'), '-1234567890123456789'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['-5', "'-5"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tcmd', "'\tcmd"],
  ['\rcmd', '"\'\rcmd"'],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ['a=1', 'a=1'],
  ['a;=1+1', "a;'=1+1"],
  ['a; "=1+1', '"a; ""\'=1+1"'],
  ['a\n@SUM(A1)', '"a\n\'@SUM(A1)"'],
  ['text/html; q=0.9', 'text/html; q=0.9'],
  ['héllo 🌍', 'héllo 🌍'],
])('the cell of %j is %j', (value, cell) => {
  expect(renderCell(value)).toBe(cell);
});

test('no cell begins as a formula, whichever separator the reader takes', () => {
  const text = fc.string({ unit: fc.constantFrom(...'=+-@;,"\'\n\r\t a1'), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (values) => {
      const line = table([Object.fromEntries(values.map((value, index) => [`k${index}`, value]))]);
      for (const delimiter of [',', ';']) {
        const { data } = Papa.parse<string[]>(line, { delimiter });
        for (const cell of data.flat()) expect(cell).not.toMatch(/^\s*[=+\-@]/);
      }
    }),
    { numRuns: 2000 },
  );
});

test('a long run of blanks and separators costs no more than its length', () => {
  const blanks = ';\n'.repeat(500_000);
  expect(renderCell(blanks)).toHaveLength(blanks.length + 2);
  expect(renderCell(`${blanks}=`)).toHaveLength(blanks.length + 4);
});

test('a name that would run as a formula is no formula in the first line either', () => {
  expect(table([{ '=cmd': 1, 'a"b': 2 }])).toBe('\'=cmd,"a""b"\r\n1,2\r\n');
});

test('numbers keep their digits', () => {
  const value = parseJson('[{"n":1234567890123456789,"m":-0.10000000000000000001}]');
  expect(table(value as unknown[])).toBe('m,n\r\n-0.10000000000000000001,1234567890123456789\r\n');
});

test('a reader of the format gets back what went in', () => {
  const rows = [
    { a: 'x,"y"\r\nz', b: ' padded ' },
    { a: '', b: 'z\n' },
  ];
  const { data, errors } = Papa.parse<Record<string, string>>(table(rows), {
    header: true,
    skipEmptyLines: true,
  });
  expect(errors).toEqual([]);
  expect(data).toEqual(rows);
});

test('of two paths that read alike the later one stands', () => {
  expect(table([{ a: { b: 1 }, 'a.b': 2 }])).toBe('a.b\r\n2\r\n');
});

test('a scalar stands in a column of its own', () => {
  expect([...flatten('x')]).toEqual([['value', 'x']]);
  expect(table(['x', 5])).toBe('value\r\nx\r\n5\r\n');
});

test('a table has as many columns as a spreadsheet, and what is left over in the last of them', () => {
  const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));
  const most = new Set<string>();
  collectColumns(most, [wide(MAX_COLUMNS - 1)]);
  expect([most.size, most.has(FURTHER)]).toEqual([MAX_COLUMNS - 1, false]);

  const { data } = Papa.parse<string[]>(table([{ name: 'Ada' }, wide(MAX_COLUMNS + 1)]));
  const [header = [], ada = [], wideRow = []] = data;
  expect([header.length, header.at(-1)]).toEqual([MAX_COLUMNS, FURTHER]);
  expect([ada[header.indexOf('name')], ada.at(-1)]).toEqual(['Ada', '']);
  expect(JSON.parse(wideRow.at(-1) ?? '')).toEqual({ k16382: 16_382, k16383: 16_383, k16384: 16_384 });
});

test.each([
  ['/api/projects/1/persons/', 'persons.csv'],
  ['/api/projects/@current/persons.csv', 'persons.csv'],
  ['/api/projects/1/persons/5/activity/', 'persons-5-activity.csv'],
  ['/api/projects/1/persons/a"b\r\nc/', 'persons-a_b_c.csv'],
])('the file of %s is called %s', (path, name) => {
  expect(fileName(path)).toBe(name);
});
