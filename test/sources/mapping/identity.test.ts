import { describe, expect, it } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { readSendableId, toDistinctId } from '../../../src/sources/mapping/distinct-id.ts';
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
});

describe('the length of an id', () => {
  it('is 200 characters at most, and longer ones are rejected rather than cut', () => {
    expect(toDistinctId('u'.repeat(200), 'user_id')).toBe('u'.repeat(200));
    expect(toDistinctId('u'.repeat(201), 'user_id')).toMatchObject({
      kind: 'rejected',
      reason: 'id_too_long',
    });
    expect(readSendableId('u'.repeat(200))).toBe('u'.repeat(200));
    expect(readSendableId('u'.repeat(201))).toBeUndefined();
  });
});
