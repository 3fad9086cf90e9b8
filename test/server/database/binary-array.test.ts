import { expect, test } from 'vitest';
import {
  toBooleanArray,
  toIntegerArray,
  toJsonArray,
  toTextArray,
  toTimeArray,
  toUuidArray,
} from '../../../src/server/database/binary-array.ts';
import { onBothDatabases } from '../../support/databases.ts';

onBothDatabases('parameters in binary', (getDb) => {
  const read = async (statement: string, param: Uint8Array) => {
    const rows = await getDb().query<{ value: unknown }>(statement, [param]);
    return rows.map(({ value }) => value);
  };

  test('uuids arrive as they were, with gaps', async () => {
    const uuids = ['0192f5a0-0000-4000-8000-00000000000f', undefined, 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
    const got = await read('select value::text from unnest($1::uuid[]) as t (value)', toUuidArray(uuids));
    expect(got).toEqual(uuids.map((uuid) => uuid ?? null));
  });

  test('texts arrive as they were, in any alphabet and empty', async () => {
    const texts = ['a', '', 'é日本😀', '"{\\,}"', 'null'];
    expect(await read('select value from unnest($1::text[]) as t (value)', toTextArray(texts))).toEqual(
      texts,
    );
  });

  test('times arrive to the millisecond, from year 1 on', async () => {
    const times = [
      '0001-01-01T00:00:00.001Z',
      '1999-12-31T23:59:59.999Z',
      '2000-01-01T00:00:00.000Z',
      '2024-02-29T12:00:00.500Z',
      '9999-12-31T23:59:59.999Z',
    ];
    const statement = `select to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as value
      from unnest($1::timestamptz[]) as t (value)`;
    expect(await read(statement, toTimeArray(times))).toEqual(times);
  });

  test('JSON arrives with every digit', async () => {
    const texts = ['{}', '{"a": "é\\n\\"", "b": 12345678901234567890}', '{"a": [1.5, null]}'];
    const got = await read(
      'select value::text from unnest($1::jsonb[]) as t (value)',
      toJsonArray(texts.map((text) => Buffer.from(text))),
    );
    expect(got).toEqual(texts);
  });

  test('whole numbers arrive as they were, with gaps', async () => {
    const numbers = [0, -1, undefined, 2_147_483_647, -2_147_483_648];
    const got = await read('select value from unnest($1::integer[]) as t (value)', toIntegerArray(numbers));
    expect(got).toEqual(numbers.map((number) => number ?? null));
  });

  test('yes and no arrive as they were', async () => {
    const values = [true, false, true];
    const got = await read('select value from unnest($1::boolean[]) as t (value)', toBooleanArray(values));
    expect(got).toEqual(values);
  });

  test('an array may be empty', async () => {
    expect(await read('select value from unnest($1::text[]) as t (value)', toTextArray([]))).toEqual([]);
  });
});
