import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonToken } from '../../../src/lib/json/json-token.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { getName, limitNames, PropertyList } from '../../../src/lib/json/property-list.ts';
import { RecordScanner } from '../../../src/lib/json/record-scanner.ts';
import { parseWhole, readField } from '../../../src/lib/json/record-view.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';

const FIELDS = ['a', 'b', 'id', 'own', 'x y', 'ä'];

/** With bytes around it, as in a part. */
function scan(text: string | Buffer, scanner = new RecordScanner(new Set(FIELDS))) {
  const record = Buffer.from(text as string);
  const bytes = Buffer.concat([Buffer.from('R 1 2\n'), record, Buffer.from('\nR 1 2\n{"a":"next"}\n')]);
  return scanner.scan(bytes, 6, 6 + record.length) as Readonly<Record<string, unknown>> | undefined;
}

/** Whether a record that is viewed is, in every field, the record that is parsed. */
function isSame(text: string, scanner?: RecordScanner): boolean {
  const view = scan(text, scanner);
  if (!view) return false;
  const parsed = parseJson(text) as Readonly<Record<string, unknown>>;
  for (const field of FIELDS) {
    const expected = Object.hasOwn(parsed, field) ? parsed[field] : undefined;
    expect(view[field]).toEqual(expected);
    expect(Object.is(view[field], -0)).toBe(Object.is(expected, -0));
    expect(stringifyJson(view[field])).toBe(stringifyJson(expected));
  }
  expect(parseWhole(view)).toEqual(parsed);
  return true;
}

const name = fc.oneof(
  fc.constantFrom(...FIELDS, '0', '7', '__proto__', 'toString', '', '"', '\\', '\u2028', 'n\nl'),
  fc.string({ maxLength: 3 }),
);
/** Text of JSON in spellings that JSON.stringify does not use, too. */
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(
      'null',
      'true',
      'false',
      '{}',
      '[]',
      '""',
      ' 1',
      '{ }',
      '[ ]',
      '"\\u00e4\\/"',
      '"\\ud800"',
    ),
    fc.constantFrom(
      '0',
      '-0',
      '0.0',
      '1.10',
      '0.5',
      '0.05',
      '0.0000001',
      '-12.5',
      '123456789012345',
      '1e5',
      '2E400',
    ),
    fc.constantFrom('1234567890123456', '17041189549083123', '0.1234567890123456789', '12345678901234.5'),
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    members(tie('value')),
  ),
}));

function members(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(name, of), { maxLength: 6 }), fc.constantFrom('', '', '', ' ', '\n\t'))
    .map(([all, blank]) => {
      const texts = all.map(
        ([key, text]) => `${blank}${JSON.stringify(key)}${blank}:${blank}${text}${blank}`,
      );
      return `{${texts.join(',')}}`;
    });
}

describe('a view of a record', () => {
  it('reads what JSON.parse reads, whatever was scanned before', () => {
    const scanner = new RecordScanner(new Set(FIELDS));
    let viewed = 0;
    fc.assert(
      fc.property(members(value), (text) => {
        if (isSame(text, scanner)) viewed += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(viewed).toBeGreaterThan(300);
  });

  it('takes nothing that is not JSON', () => {
    const sample = '{"a":"x","b":[1,2.5,{"id":null}],"own":{"c":true,"d":"ä\\n"},"id":-7}';
    const scanner = new RecordScanner(new Set(FIELDS));
    expect(isSame(sample, scanner)).toBe(true);
    const bytes = Buffer.from(sample);
    for (let at = 0; at < bytes.length; at += 1) {
      for (const put of [
        0x00, 0x0a, 0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x5c, 0x5d, 0x7d, 0x65, 0xc3, 0xff,
      ]) {
        const broken = Buffer.from(bytes);
        broken[at] = put;
        const view = scan(broken, scanner);
        if (!view) continue;
        expect(new TextDecoder('utf-8', { fatal: true }).decode(broken)).toBe(broken.toString());
        expect(parseWhole(view)).toEqual(parseJson(broken.toString()));
      }
      expect(scan(bytes.subarray(0, at), scanner)).toBeUndefined();
    }
  });

  it('keeps every digit of long numbers, in fields and inside of them', () => {
    const scanner = new RecordScanner(new Set(FIELDS));
    const digits = [
      '1234567890123456',
      '17041189549083123',
      '-9007199254740993',
      '0.12345678901234567',
      '1.50',
    ];
    for (const number of digits) {
      expect(isSame(`{"a":${number},"own":{"b":${number},"list":[1,{"c":${number}}]}}`, scanner)).toBe(true);
    }
  });

  it('leaves to the parser what only it does exactly', () => {
    expect(scan('{"a":1234567890123456e1}')).toBeUndefined();
    expect(scan('{"x":1e400}')).toBeUndefined();
    expect(scan(`{"a":${'['.repeat(7)}${']'.repeat(7)}}`)).toBeDefined();
    expect(scan(`{"a":${'['.repeat(8)}${']'.repeat(8)}}`)).toBeUndefined();
    expect(scan('[{"a":1}]')).toBeUndefined();
    expect(scan('\ufeff{"a":1}')).toBeUndefined();
    expect(scan(' {"a":1}')).toBeUndefined();
  });

  it('has nothing of the record before it', () => {
    const scanner = new RecordScanner(new Set(FIELDS));
    expect(scan('{"a":1,"own":{"b":2}}', scanner)?.['a']).toBe(1);
    const view = scan('{"own":{}}', scanner) ?? {};
    expect(view['a']).toBeUndefined();
    expect(view['own']).toEqual({});
    expect(readField(view, 'own')).toMatchObject({ members: { count: 0 } });
  });

  it('has names that are those of lists, also after names were forgotten', () => {
    const scanner = new RecordScanner(new Set(FIELDS));
    const readMember = () => {
      const own = readField(scan('{"own":{"kept":[1.5]}}', scanner) ?? {}, 'own');
      if (!(own instanceof JsonToken)) throw new Error('an object stays text');
      const [member] = own.members.names;
      if (!member) throw new Error('it has a member');
      return { member, value: own.members.values[0] };
    };
    readMember();
    const before = limitNames();
    for (let n = 0; n < 20_000; n += 1) getName(`some name ${n}`);
    const { member, value } = readMember();
    expect(limitNames()).toBeGreaterThan(before);
    const list = new PropertyList();
    list.set(member, value);
    expect(list.get('kept')).toEqual([1.5]);
    list.set('kept', 2);
    expect(list.toObject()).toEqual({ kept: 2 });
    expect(list.count).toBe(1);
  });
});

describe('a name that is expected', () => {
  const named = (key: string) => new RecordScanner(new Set([key]));

  it('is told from others of its length by each of its bytes', () => {
    for (let length = 1; length <= 13; length += 1) {
      const expected = 'abcdefghijklm'.slice(0, length);
      const scanner = named(expected);
      for (let at = 0; at < length; at += 1) {
        const other = `${expected.slice(0, at)}~${expected.slice(at + 1)}`;
        expect(scan(`{"${expected}":1}`, scanner)?.[expected]).toBe(1);
        const view = scan(`{"${other}":2}`, scanner);
        expect(view && parseWhole(view)).toEqual({ [other]: 2 });
        expect(view?.[expected]).toBeUndefined();
      }
    }
  });

  it('is not looked for behind the end of the bytes', () => {
    const scanner = named('a_long_name');
    expect(scan('{"a_long_name":1}', scanner)?.['a_long_name']).toBe(1);
    for (const end of [2, 5, 12, 14]) {
      const bytes = Buffer.from('{"a_long_name":1}').subarray(0, end);
      expect(scanner.scan(bytes, 0, end)).toBeUndefined();
    }
  });
});

describe('the next record of a text', () => {
  const scanner = new RecordScanner(new Set(FIELDS));
  const scanNext = (text: string) => {
    const before = scanner.containers;
    const end = scanner.scanNext(Buffer.from(text), 1);
    const { hasCodes, hasOtherSpelling } = scanner;
    return { end, containers: scanner.containers - before, hasCodes, hasOtherSpelling };
  };
  const plain = { hasCodes: false, hasOtherSpelling: false };

  it('ends where its brace closes, whatever follows', () => {
    expect(scanNext('[{"a":"}]"},{"a":1}]')).toEqual({ end: 11, containers: 1, ...plain });
    expect(scanNext('[{"a":1}')).toMatchObject({ end: 8 });
    for (const open of ['[{"a":1', '[{"a":"1}', '[1]', '['])
      expect(scanNext(open)).toMatchObject({ end: undefined });
  });

  it('counts objects and lists', () => {
    expect(scanNext('[{"a":[{},[],[1]],"b":{"c":{}}}')).toMatchObject({ containers: 7 });
  });

  it('says what may not be stored as it is written', () => {
    expect(scanNext('[{"a":"ä \\n \\\\u0000 1.10","b":[0.5,10,-0]}')).toMatchObject(plain);
    expect(scanNext('[{"a":"\\u0000"}')).toMatchObject({ hasCodes: true, hasOtherSpelling: false });
    // A name that comes again is expected.
    for (let time = 1; time <= 3; time += 1) {
      expect(scanNext('[{"x":{"\\u0061":1}}')).toMatchObject({ hasCodes: true });
      expect(scanNext('[{"\\u0000":1,"x\\ud800":2}')).toMatchObject({ hasCodes: true });
    }
    expect(scanNext('[{"x":[1.10]}')).toMatchObject({ hasCodes: false, hasOtherSpelling: true });
    expect(scanNext('[{"x":1.1}')).toMatchObject(plain);
  });

  it('leaves long names', () => {
    expect(scanNext(`[{"${'k'.repeat(250)}":1}`).end).toBeDefined();
    expect(scanNext(`[{"x":{"${'k'.repeat(251)}":1}}`).end).toBeUndefined();
  });

  it('leaves more members and names than it notes', () => {
    const members = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',');
    expect(scanNext(`[{"a":{${members(1_000)}}}`).end).toBeDefined();
    expect(scanNext(`[{"a":{${members(1_001)}}}`).end).toBeUndefined();
    expect(scanNext(`[{"x":{${members(8_000)}}}`).end).toBeDefined();
    expect(scanNext(`[{"x":{${members(8_500)}}}`).end).toBeUndefined();
    expect(scanNext('[{"a":1}').end).toBeDefined();
  });

  it('forgets the text', () => {
    scanNext('[{"a":"x"}');
    expect(scanner.getField('a').parse()).toBe('x');
    scanner.forget();
    expect(scanner.getField('a')).toMatchObject({ isThere: false });
    expect(scanner.getField('a').text.bytes).toHaveLength(0);
    expect(() => scanner.getField('unknown')).toThrow('unknown is none of the fields');
  });
});
