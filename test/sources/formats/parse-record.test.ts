import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceError } from '../../../src/lib/errors.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { createRecordParser } from '../../../src/sources/formats/parse-record.ts';

const record = (bytes: Uint8Array | string) =>
  ({ kind: 'record', member: undefined, line: 1, bytes: Buffer.from(bytes) }) as const;
const parse = createRecordParser({ kind: 'json' }, undefined);
const roundTrip = (text: string) => {
  const parsed = parse(record(text));
  if (parsed.kind === 'rejected') throw new Error(parsed.detail);
  return stringifyJson(parsed.value);
};

describe('a JSON record', () => {
  it('keeps numbers that a double would change', () => {
    for (const number of [
      '1234567890123456789',
      '-9223372036854775808',
      '9007199254740993',
      '12345678.123456789012',
      '0.1000000000000000055511151231257827',
      '1e400',
      '-1.5E-400',
      '123456789012345678901234567890',
    ]) {
      const text = `{"a":{"b":[${number}]},"s":"x"}`;
      expect(roundTrip(text), number).toBe(text);
      expect(roundTrip(`{"n":${number}}`), number).toBe(`{"n":${number}}`);
    }
  });

  it('keeps ids in strings and leading zeros', () => {
    const text = '{"id":"0001234567890123456789","b":"123.456","c":1234.5}';
    expect(parse(record(text))).toEqual({ kind: 'object', value: JSON.parse(text) });
    expect(roundTrip(text)).toBe(text);
  });

  it('leaves numbers that a double holds as numbers, however they are written', () => {
    for (const text of [
      '{"n":1700000000000000}',
      '{"n":0.30000000000000004}',
      '{"n":1.0000000000000000}',
      '{"n":9007199254740991}',
    ]) {
      expect(parse(record(text))).toEqual({ kind: 'object', value: JSON.parse(text) });
    }
  });

  it('never changes an integer, wherever it is in the text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), fc.string(), (number, text) => {
        const body = `{"s":${JSON.stringify(text)},"n":${number}}`;
        expect(roundTrip(body)).toBe(body);
      }),
    );
  });

  it('reads and writes what JSON.parse and JSON.stringify do, also on the exact path', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(roundTrip(text))).toEqual(JSON.parse(text));
        const exact = `{"big":12345678901234567890,"v":${text}}`;
        expect(roundTrip(exact)).toBe(`{"big":12345678901234567890,"v":${JSON.stringify(JSON.parse(text))}}`);
      }),
    );
  });

  it('lets the last of repeated keys win on both paths', () => {
    expect(roundTrip('{"a":1,"a":2}')).toBe('{"a":2}');
    expect(roundTrip('{"a":12345678901234567890,"a":22345678901234567890}')).toBe(
      '{"a":22345678901234567890}',
    );
  });

  it('keeps a __proto__ key as data that changes nothing', () => {
    for (const text of ['{"__proto__":{"admin":true}}', '{"__proto__":{"admin":12345678901234567890}}']) {
      const parsed = parse(record(text));
      expect(parsed.kind === 'object' && 'admin' in parsed.value).toBe(false);
      expect(roundTrip(text)).toBe(text);
    }
    expect('admin' in {}).toBe(false);
  });

  it('explains lines that end in bare carriage returns', () => {
    const explain = (text: string) => JSON.stringify(parse(record(text)));
    expect(explain('{"a":1}\r{"a":2}\r')).toContain('its line holds bare carriage returns');
    expect(explain('{"a":\r\n')).toContain('not JSON');
    expect(explain('{"a":\r\n')).not.toContain('carriage returns');
    expect(explain('{"a":\r')).not.toContain('carriage returns');
  });

  it('rejects what is not UTF-8, not JSON, not an object, or too deep', () => {
    const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const cases = [
      [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'unreadable', /UTF-8/],
      ['{"a":', 'unreadable', /not JSON/],
      ['{"a":"\u0000"}', 'unreadable', /not JSON/],
      ['\u0000\u0000', 'unreadable', /not JSON/],
      ['[1]', 'not_an_object', /an array/],
      ['"text"', 'not_an_object', /a string/],
      ['null', 'not_an_object', /null/],
      [deep(201), 'unreadable', /deeper than 200/],
      [deep(5_000_000), 'unreadable', /deeper than 200/],
    ] as const;
    for (const [bytes, reason, detail] of cases) {
      const parsed = parse(record(bytes));
      expect(parsed).toMatchObject({ kind: 'rejected', reason });
      expect(parsed.kind === 'rejected' && parsed.detail).toMatch(detail);
    }
    expect(parse(record(deep(200))).kind).toBe('object');
    expect(parse(record(`{"a":"${'[{'.repeat(300)}"}`)).kind).toBe('object');
  });

  it('rejects a record too large, saying its size', () => {
    const head = Buffer.from('{');
    const parsed = parse({
      kind: 'oversize',
      member: undefined,
      line: 1,
      head,
      size: 50_000_000,
      sha256: 'x',
    });
    expect(parsed).toMatchObject({ kind: 'rejected', reason: 'record_too_large' });
    expect(parsed.kind === 'rejected' && parsed.detail).toContain('50000000');
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void parse(record(bytes))));
  });

  it('writes undefined as JSON.stringify does', () => {
    expect(stringifyJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  });
});

describe('a CSV record', () => {
  const parser = (header: string, delimiter = ',') =>
    createRecordParser({ kind: 'csv', delimiter }, Buffer.from(header));

  it('gives strings by column, numbers and markers untouched', () => {
    const parsed = parser('id,n,null,empty')(record('0012345678901234567890,1.50,\\N,""'));
    expect(parsed).toEqual({
      kind: 'object',
      value: { id: '0012345678901234567890', n: '1.50', null: '\\N', empty: '' },
    });
  });

  it('keeps repeated and empty column names apart', () => {
    const parsed = parser('name,name,,name_2,name')(record('a,b,c,d,e'));
    expect(parsed.kind === 'object' && parsed.value).toEqual({
      name: 'a',
      name_3: 'b',
      column_3: 'c',
      name_2: 'd',
      name_4: 'e',
    });
    const proto = parser('__proto__,b')(record('x,y'));
    expect(proto.kind === 'object' && Object.keys(proto.value)).toHaveLength(2);
    for (const header of ['__proto__,__proto___', '__proto___,__proto__']) {
      const both = parser(header)(record('x,y'));
      expect(both.kind === 'object' && Object.values(both.value)).toEqual(['x', 'y']);
    }
  });

  it('rejects rows with too few or too many cells, and with quotes that make no sense', () => {
    for (const [row, detail] of [
      ['1', /1 cells, the header 2/],
      ['1,2,3', /3 cells, the header 2/],
      ['1,"open', /quote/],
      ['1,"a" b"', /quote/],
    ] as const) {
      const parsed = parser('a,b')(record(row));
      expect(parsed).toMatchObject({ kind: 'rejected', reason: 'unreadable' });
      expect(parsed.kind === 'rejected' && parsed.detail).toMatch(detail);
    }
  });

  it('fails a part without a header', () => {
    expect(() => createRecordParser({ kind: 'csv', delimiter: ',' }, undefined)).toThrow(SourceError);
  });
});
