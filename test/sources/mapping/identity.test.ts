import { describe, expect, it } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { exactIds, toDistinctId, trimmedIds } from '../../../src/sources/mapping/distinct-id.ts';
import { isJunkId, readId } from '../../../src/sources/mapping/identity.ts';

describe('readId', () => {
  it.each([
    ['007', '007'],
    ['123.456', '123.456'],
    [' padded ', ' padded '],
    [42, '42'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [new ExactNumber('1234567890123456789'), '1234567890123456789'],
    ['00', '00'],
    ['NONE', 'NONE'],
    ['Nan', 'Nan'],
    ['guest-7', 'guest-7'],
    ['identity', 'identity'],
  ])('keeps %s as it was exported', (value, text) => {
    expect(readId(value)).toBe(text);
  });

  it.each([
    '',
    '   ',
    ' '.repeat(50),
    'null',
    'NULL',
    'undefined',
    'Undefined',
    'ANONYMOUS',
    'Guest',
    'distinct_id',
    'DistinctId',
    'id',
    'not_authenticated',
    'email',
    'true',
    'FALSE',
    '[object Object]',
    'NaN',
    'None',
    'none',
    '0',
    "'null'",
    '"undefined"',
    '" "',
    '00000000-0000-0000-0000-000000000000',
    0,
    Number.NaN,
    new ExactNumber('0'),
    true,
    null,
    undefined,
    {},
    ['u-1'],
  ])('takes %j for nobody', (value) => {
    expect(readId(value)).toBeUndefined();
  });
});

describe('isJunkId', () => {
  it('takes the names that the destination refuses to merge, quoted or not', () => {
    expect(isJunkId('anonymous')).toBe(true);
    expect(isJunkId("'not_authenticated'")).toBe(true);
    expect(isJunkId('anonymous-1')).toBe(false);
  });

  it.each([
    'anonymous',
    'guest',
    'distinctid',
    'distinct_id',
    'id',
    'not_authenticated',
    'email',
    'undefined',
    'true',
    'false',
    '[object Object]',
    'NaN',
    'None',
    'none',
    'null',
    'NULL',
    '0',
  ])('takes "%s" for nobody, and no id that has a character more', (name) => {
    for (const id of [name, ` ${name}\t`, `"${name}"`, `' ${name} '`]) expect(isJunkId(id), id).toBe(true);
    for (const more of '123456789-.@:/+x') {
      expect(isJunkId(`${name}${more}`), more).toBe(false);
      expect(isJunkId(`${more}${name}`), more).toBe(false);
    }
  });
});

describe('the length of an id', () => {
  it('is 200 characters at most, and longer ones are rejected rather than cut', () => {
    expect(toDistinctId('u'.repeat(200), 'user_id')).toBe('u'.repeat(200));
    expect(toDistinctId('u'.repeat(201), 'user_id')).toMatchObject({
      kind: 'rejected',
      reason: 'id_too_long',
    });
    for (const ids of [exactIds, trimmedIds]) {
      expect(ids.readSendable('u'.repeat(200))).toBe('u'.repeat(200));
      expect(ids.readSendable('u'.repeat(201))).toBeUndefined();
    }
    expect(trimmedIds.readSendable(` ${'u'.repeat(200)} `)).toBe('u'.repeat(200));
  });
});

describe('ids of the second version of the mappings', () => {
  it.each([
    [' u-1', 'u-1'],
    ['u-1\t\n', 'u-1'],
    ['\u00a0u 1\ufeff', 'u 1'],
    [42, '42'],
    [new ExactNumber('1234567890123456789'), '1234567890123456789'],
  ])('are %j without the blanks around it', (value, id) => {
    expect(trimmedIds.read(value)).toBe(id);
  });

  it.each([
    ' ',
    '\u00a0',
    ' null ',
    ' 00000000-0000-0000-0000-000000000000 ',
    true,
    false,
    'true',
    ' FALSE ',
  ])('take %j for nobody', (value) => {
    expect(trimmedIds.read(value)).toBeUndefined();
  });

  it('take no blank for a type of groups, which the first version did', () => {
    expect(['company', ' ', ''].map(trimmedIds.isGroupType)).toEqual([true, false, false]);
    expect(exactIds.isGroupType(' ')).toBe(true);
  });
});
