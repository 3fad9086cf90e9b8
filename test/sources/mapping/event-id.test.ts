import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import {
  createEventId,
  createRecordId,
  createSessionUuid,
  readUuid,
} from '../../../src/sources/mapping/event-id.ts';
import { ILL_FORMED } from '../../support/ill-formed.ts';

describe('createEventId', () => {
  it('never changes, as events that were imported once bear it', () => {
    expect(createEventId(['amplitude', 'x'])).toBe('f200c739-3182-55b3-8938-1a7e5c9e5daa');
    expect(createEventId([])).toBe('c01db5e1-993e-5c63-a120-1f3d0e250317');
  });

  it('is a version 5 UUID of the project namespace over length-prefixed parts', () => {
    const texts = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 1200, maxLength: 3000 })),
    );
    fc.assert(
      fc.property(texts, (parts) => {
        const name = parts.map((part) => `${part.length}:${part}`).join('');
        const sha = createHash('sha1')
          .update(Buffer.from('7b1f0c52e6a94c0d9c5e2f4a8d3b6e17', 'hex'))
          .update(name, 'utf8')
          .digest();
        sha[6] = (Number(sha[6]) & 0x0f) | 0x50;
        sha[8] = (Number(sha[8]) & 0x3f) | 0x80;
        expect(createEventId(parts).replaceAll('-', '')).toBe(sha.subarray(0, 16).toString('hex'));
      }),
    );
  });

  it('keeps keys apart that join to the same text', () => {
    expect(createEventId(['ab', 'c'])).not.toBe(createEventId(['a', 'bc']));
    expect(createEventId(['a', ''])).not.toBe(createEventId(['a']));
    expect(createEventId(['1:a'])).not.toBe(createEventId(['1', 'a']));
  });

  it('keeps keys apart that differ in half a surrogate pair alone', () => {
    const keys = ILL_FORMED.map((text) => createEventId(['people', text]));
    expect(new Set(keys).size).toBe(ILL_FORMED.length);
  });
});

describe('createRecordId', () => {
  it('does not depend on the order of fields, at any depth', () => {
    expect(createRecordId('s', { a: 1, b: { c: [1, 2], d: null } })).toBe(
      createRecordId('s', { b: { d: null, c: [1, 2] }, a: 1 }),
    );
  });

  it('tells records apart that differ in the last of many digits', () => {
    const of = (text: string) => createRecordId('s', parseJson(text) as Record<string, unknown>);
    expect(of('{"n":1234567890123456788}')).not.toBe(of('{"n":1234567890123456789}'));
  });

  it('depends on the order of a list, on types and on sources', () => {
    expect(createRecordId('s', { a: [1, 2] })).not.toBe(createRecordId('s', { a: [2, 1] }));
    expect(createRecordId('s', { a: '1' })).not.toBe(createRecordId('s', { a: 1 }));
    expect(createRecordId('s', { a: 1 })).not.toBe(createRecordId('t', { a: 1 }));
  });
});

describe('canonicalJson', () => {
  it('writes every digit of a number that a double cannot hold', () => {
    const big = new ExactNumber('12345678901234567890.10');
    expect(canonicalJson({ b: [big, null], a: 'x' })).toBe('{"a":"x","b":[12345678901234567890.10,null]}');
  });

  it('is JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('readUuid', () => {
  it('takes a UUID in lower case', () => {
    expect(readUuid('0C3E5A10-1111-4B6E-8F00-00000000A001')).toBe('0c3e5a10-1111-4b6e-8f00-00000000a001');
  });

  it.each([
    '0c3e5a10-1111-4b6e-8f00-00000000a00',
    '0c3e5a1011114b6e8f0000000000a001',
    '{0c3e5a10-1111-4b6e-8f00-00000000a001}',
    'Newsletter Signup:1',
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-ffff-ffff-ffff-ffffffffffff',
    '',
    7,
    null,
  ])('does not take %j for one', (value) => {
    expect(readUuid(value)).toBeUndefined();
  });
});

describe('createSessionUuid', () => {
  it('is a version 7 UUID of the start, the same for the same session only', () => {
    const uuid = createSessionUuid(1678785000123, ['app', 'device', '1678785000123']);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(uuid.replace('-', '').slice(0, 12), 16)).toBe(1678785000123);
    expect(createSessionUuid(1678785000123, ['app', 'device', '1678785000123'])).toBe(uuid);
    expect(createSessionUuid(1678785000123, ['app', 'other', '1678785000123'])).not.toBe(uuid);
  });
});
