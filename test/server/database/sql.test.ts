import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { allOf, anyOf, joinSql, runSql, sql } from '../../../src/server/database/sql.ts';
import { onBothDatabases } from '../../support/databases.ts';

test('fragments are numbered in the order they stand in', () => {
  const inner = sql`b = ${'x'} or c = ${2}`;
  const statement = sql`select ${1} where ${inner} and d = any(${['y']})`;
  expect(statement.toQuery()).toEqual({
    text: 'select $1 where b = $2 or c = $3 and d = any($4)',
    params: [1, 'x', 2, ['y']],
  });
  expect(inner.toQuery().text).toBe('b = $1 or c = $2'); // using it changed nothing
});

test('conditions join in brackets; without any, all hold and none does', () => {
  const one = sql`a = ${1}`;
  expect(allOf([one, one]).toQuery().text).toBe('(a = $1 and a = $2)');
  expect(anyOf([one, one]).toQuery().text).toBe('(a = $1 or a = $2)');
  expect(joinSql([one, one], ', ').toQuery().text).toBe('a = $1, a = $2');
  expect([allOf([]), anyOf([])].map((condition) => condition.toQuery().text)).toEqual(['true', 'false']);
  expect(joinSql([], ', ').toQuery()).toEqual({ text: '', params: [] });
});

onBothDatabases('a statement', (db) => {
  test('carries values that look like SQL', async () => {
    const text = `'; drop table persons; -- $1 \${x} "`;
    const list = ['{"a"}', 'b,c', '\\', ' "d" ', 'NULL', ''];
    const rows = await runSql(
      db(),
      sql`select ${text}::text as t, ${list}::text[] as l, ${[1, 2]}::integer[] as i`,
    );
    expect(rows).toEqual([{ t: text, l: list, i: [1, 2] }]);
  });
});

test('no other room sends a statement as text, and rows have their columns in camel case', () => {
  const server = resolve(import.meta.dirname, '../../../src/server');
  const files = readdirSync(server, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('database/'))
    .map((name) => ({ name, text: readFileSync(join(server, name), 'utf8') }));
  expect(files.filter(({ text }) => /\b(?:db|tx)\.query\b/.test(text)).map(({ name }) => name)).toEqual([]);
  const rowTypes = files.flatMap(({ name, text }) =>
    [...text.matchAll(/runSql<\{([^}]*)\}>/g)].flatMap(([, row = '']) =>
      /\w_\w+:/.test(row) ? [`${name}: ${row}`] : [],
    ),
  );
  expect(rowTypes).toEqual([]);
});
