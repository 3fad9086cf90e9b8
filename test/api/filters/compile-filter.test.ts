import { expect, test } from 'vitest';
import { compileFilter } from '../../../src/api/filters/compile-filter.ts';
import { parseFilter } from '../../../src/api/filters/parse-filter.ts';
import { runSql, sql } from '../../../src/api/filters/sql.ts';
import { onEveryDatabase } from '../../support/databases.ts';

const NOW = Date.parse('2024-03-10T12:00:00Z');

/** Stored values of the property `k`, as JSON; `missing` has none. */
const STORED = [
  'missing',
  'null',
  '""',
  '"1"',
  '1',
  '1.0',
  '"10"',
  '10',
  '9',
  '1234567890123456789',
  'true',
  '"true"',
  '"True"',
  'false',
  '"Ada Lovelace"',
  '["a",1]',
];
const OBJECTS = STORED.map((value) => (value === 'missing' ? '{}' : `{"k":${value}}`));

onEveryDatabase('a property filter', (db) => {
  const passing = async (filter: unknown) => {
    const condition = compileFilter(parseFilter(filter, { defaultType: 'person' }), {
      projectId: 1,
      now: NOW,
      person: { id: sql`0`, properties: sql`p.properties` },
    });
    const rows = await runSql<{ name: string }>(
      db(),
      sql`select name from unnest(${STORED}::text[], ${OBJECTS}::text[]::jsonb[])
        with ordinality as p (name, properties, position) where ${condition} order by position`,
    );
    return rows.map(({ name }) => name);
  };

  test.each<[operator: string, value: unknown, passing: string[]]>([
    ['exact', '1', ['"1"', '1', '1.0']],
    ['exact', 1, ['"1"', '1', '1.0']],
    ['exact', ['Ada Lovelace', true], ['true', '"true"', '"Ada Lovelace"']],
    ['exact', 'True', ['true', '"true"', '"True"']],
    ['exact', '1234567890123456789', ['1234567890123456789']],
    ['exact', '1234567890123456788', []],
    ['exact', [], []],
    ['icontains', 'LOVE', ['"Ada Lovelace"']],
    ['icontains', 'u', ['true', '"true"', '"True"']],
    ['starts_with', 'Ada', ['"Ada Lovelace"']],
    ['ends_with', 'lace', ['"Ada Lovelace"']],
    ['regex', '^A.a', ['"Ada Lovelace"']],
    ['regex', '(', []],
    ['not_regex', '(', []],
    ['gt', 9, ['10', '1234567890123456789', '"true"', '"True"', '"Ada Lovelace"']],
    ['lt', '2', ['""', '"1"', '1', '1.0', '"10"']],
    ['between', [9, 10], ['10', '9']],
    ['is_not_set', 'is_not_set', ['missing']],
  ])('%s %j is passed by %j', async (operator, value, expected) => {
    expect(await passing([{ key: 'k', operator, value }])).toEqual(expected);
  });
});
