import { expect, test } from 'vitest';
import { toIntegerArray } from '../../../src/server/database/binary-array.ts';
import { getSqlState } from '../../../src/server/database/db.ts';
import { migrate } from '../../../src/server/database/migrate.ts';
import { onBothDatabases } from '../../support/databases.ts';

onBothDatabases('a database', (db) => {
  test('gives values the same shape everywhere', async () => {
    const [row] = await db().query(
      `select 7::bigint as count, 3 as whole, true as yes, null as nothing,
         '{"id": 1234567890123456789, "n": 1.50}'::jsonb as properties,
         '2020-01-02 03:04:05.678901+02'::timestamptz as at,
         array['a', null, 'c,"d"']::text[] as texts,
         'AAAAAAAA-0000-4000-8000-000000000000'::uuid as uuid`,
    );
    expect(row).toEqual({
      count: 7,
      whole: 3,
      yes: true,
      nothing: null,
      properties: '{"n": 1.50, "id": 1234567890123456789}',
      at: '2020-01-02T01:04:05.678Z',
      texts: ['a', null, 'c,"d"'],
      uuid: 'aaaaaaaa-0000-4000-8000-000000000000',
    });
  });

  test('takes text, numbers, lists and JSON text as parameters', async () => {
    const [row] = await db().query(
      `select $1::text as t, $2::integer as i, $3::boolean as b, $4::text[] as l, $5::integer[] as n,
         ($6::json)->>'a' as j, $7::text as nothing`,
      ["it's; --", 5, false, ['x', 'y"z'], [1, 2], '{"a":12345678901234567890}', null],
    );
    expect(row).toEqual({
      t: "it's; --",
      i: 5,
      b: false,
      l: ['x', 'y"z'],
      n: [1, 2],
      j: '12345678901234567890',
      nothing: null,
    });
  });

  test('gives the same rows by a prepared statement, again and again, and after one that failed', async () => {
    const read = (n: number) =>
      db().transaction((tx) =>
        tx.query('select $1::integer + 1 as n, $2::text[] as l, null::text as nothing', [n, ['a', 'b"']], {
          prepared: true,
        }),
      );
    for (let n = 0; n < 8; n++) expect(await read(n)).toEqual([{ n: n + 1, l: ['a', 'b"'], nothing: null }]);
    const divide = db().transaction((tx) => tx.query('select 1 / $1::integer as n', [0], { prepared: true }));
    await expect(divide).rejects.toMatchObject({ code: '22012' });
    expect(await read(1)).toHaveLength(1);
  });

  test('takes any value as a parameter of a prepared statement, large ones too', async () => {
    const long = 'é日😀'.repeat(100_000);
    const read = (text: string | null, note: string) =>
      db().query(
        'select $1::text as text, $2::text as note, $3::integer as n, $4::boolean as yes, $5::text[] as list, to_jsonb($6::integer[]) as bytes',
        [text, note, -7, true, ['a"', '', null], toIntegerArray([1, undefined])],
        { prepared: true },
      );
    const others = { n: -7, yes: true, list: ['a"', '', null], bytes: '[1, null]' };
    expect(await read(null, '')).toEqual([{ text: null, note: '', ...others }]);
    expect(await read(long, 'é')).toEqual([{ text: long, note: 'é', ...others }]);
  });

  test('needs no prepared statement that a pooler has lost', async () => {
    if (db().kind === 'pglite') return;
    const read = () => db().transaction((tx) => tx.query('select 2 as n', [], { prepared: true }));
    expect(await read()).toEqual([{ n: 2 }]);
    await db().transaction((tx) => tx.query('deallocate all'));
    expect(await read()).toEqual([{ n: 2 }]);
  });

  test('commits a transaction whole or not at all', async () => {
    await db().query('create table ledger (entry integer primary key)');
    await db().transaction(async (tx) => {
      await tx.query('insert into ledger values (1)');
    });
    const broken = db().transaction(async (tx) => {
      await tx.query('insert into ledger values (2)');
      await tx.query('insert into ledger values (1)');
    });
    await expect(broken).rejects.toSatisfy((error) => getSqlState(error) === '23505');
    const thrown = db().transaction(async (tx) => {
      await tx.query('insert into ledger values (3)');
      throw new Error('changed my mind');
    });
    await expect(thrown).rejects.toThrow('changed my mind');
    expect(await db().query('select entry from ledger')).toEqual([{ entry: 1 }]);
  });

  test('keeps transactions that run at once apart', async () => {
    await db().query('create table counter (id integer primary key, value integer not null)');
    await db().query('insert into counter values (1, 0)');
    const addOne = () =>
      db().transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock(99, 1)');
        const [row] = await tx.query<{ value: number }>('select value from counter');
        await tx.query('update counter set value = $1', [(row?.value ?? 0) + 1]);
      });
    await Promise.all(Array.from({ length: 20 }, addOne));
    expect(await db().query('select value from counter')).toEqual([{ value: 20 }]);
  });

  test('finds nothing to do when migrated again, also by several processes at once', async () => {
    const steps = () => db().query('select version, applied_at from schema_migrations order by version');
    const before = await steps();
    await Promise.all([migrate(db()), migrate(db()), migrate(db())]);
    expect(await steps()).toEqual(before);
  });

  test('refuses a database of a newer version, and says what to do', async () => {
    await db().query(`insert into schema_migrations (version, name) values (999, 'from the future')`);
    await expect(migrate(db())).rejects.toThrow(/newer Backhaul \(schema 999\).*DATABASE_URL/);
    await db().query('delete from schema_migrations where version = 999');
  });
});
