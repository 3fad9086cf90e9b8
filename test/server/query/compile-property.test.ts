import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runSql, sql } from '../../../src/server/database/sql.ts';
import { parseJsonObject } from '../../../src/server/http/json.ts';
import { storedDate } from '../../../src/server/query/compile-date.ts';
import { compileFilter } from '../../../src/server/query/compile-filter.ts';
import { compileMatchProperty } from '../../../src/server/query/match/property.ts';
import { parseFilter } from '../../../src/server/query/parse-filter.ts';
import { onEveryDatabase } from '../../support/databases.ts';

const NOW = Date.parse('2024-03-10T12:00:00Z');

/** Stored values of the property `k`, as JSON; `missing` has none. */
const VALUES = [
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
  '"Ada \\"L\\" Lövelace\\\\"',
  '["a",1]',
  '{"a":1}',
];
const ADA = '"Ada \\"L\\" Lövelace\\\\"';

const DATES = [
  'missing',
  'null',
  '1709294400',
  '"2024-02-29"',
  '"2024-02-30"',
  '"2023-02-29"',
  '"0000-01-01"',
  '"2024-03-01"',
  '"2024-03-01T10:30:00Z"',
  '"2024-03-01T10:30:00.500Z"',
  '"2024-03-01 10:30"',
  '"2024-03-02T00:30:00+05:30"',
  '"2024-03-01T24:00:00Z"',
  '"2024-03-01T10:30:00+15:00"',
  '"yesterday"',
  '"9999-12-31T23:59:59.999999999-14:00"',
  '["2024-03-01"]',
];

onEveryDatabase('a property filter', (db) => {
  async function passing(values: readonly string[], filter: object): Promise<string[]> {
    const objects = values.map((value) => (value === 'missing' ? '{}' : `{"k":${value}}`));
    const condition = compileFilter(
      parseFilter([{ key: 'k', ...filter }], { defaultType: 'person', anyPattern: true }),
      {
        projectId: 1,
        now: NOW,
        person: { id: sql`0`, properties: sql`p.properties` },
      },
    );
    const rows = await runSql<{ name: string }>(
      db(),
      sql`select name from unnest(${values}::text[], ${objects}::text[]::jsonb[])
        with ordinality as p (name, properties, position) where ${condition} order by position`,
    );
    const names = rows.map(({ name }) => name);
    // Ingestion stores 1.0 as 1.
    const asStored = (those: readonly string[]) => those.filter((value) => value !== '1.0');
    expect(asStored(passingInMemory(values, filter))).toEqual(asStored(names));
    return names;
  }

  test.each<[operator: string, value: unknown, passing: string[]]>([
    ['exact', '1', ['"1"', '1', '1.0']],
    ['exact', 1, ['"1"', '1', '1.0']],
    ['exact', '01', []],
    ['exact', ['10', true], ['"10"', '10', 'true', '"true"']],
    ['exact', 'True', ['true', '"true"', '"True"']],
    ['exact', false, ['false']],
    ['exact', '1234567890123456789', ['1234567890123456789']],
    ['exact', '1234567890123456788', []],
    ['exact', 'Ada "L" Lövelace\\', [ADA]],
    ['exact', 'ada "L" Lövelace\\', []],
    ['exact', '', ['""']],
    ['exact', '["a",1]', []],
    ['exact', [], []],
    ['icontains', 'LÖVE', [ADA]],
    ['icontains', 'RU', ['true', '"true"', '"True"']],
    ['icontains', '%', []],
    ['icontains', ['zz', 'love', 'LÖVE'], [ADA]],
    ['starts_with', 'Ada', [ADA]],
    ['starts_with', 'ada', []],
    ['ends_with', 'lace\\', [ADA]],
    ['ends_with', '9', ['9', '1234567890123456789']],
    ['regex', '^A.a', [ADA]],
    ['regex', '^a.a', []],
    ['regex', '^1.*9$', ['1234567890123456789']],
    ['regex', ['(', '^9$'], ['9']],
    ['regex', '(', []],
    ['not_regex', '(', []],
    ['gt', 9, ['10', '1234567890123456789', '"true"', '"True"', ADA]],
    ['gte', '9.0', ['10', '9', '1234567890123456789', '"true"', '"True"', ADA]],
    ['gt', '1234567890123456788', ['"true"', '"True"', ADA, '1234567890123456789']],
    ['lt', '2', ['""', '"1"', '1', '1.0', '"10"']],
    ['lte', 1, ['""', '"1"', '1', '1.0']],
    ['lt', 'AB', ['""', '"1"', '1', '1.0', '"10"', '10', '9', '1234567890123456789']],
    ['gt', 'nan', ['"true"']],
    ['between', [9, 10], ['10', '9']],
    ['is_set', 'is_set', VALUES.slice(1)],
    ['is_not_set', 'is_not_set', ['missing']],
  ])('%s %j is passed by %j', async (operator, value, expected) => {
    expect((await passing(VALUES, { operator, value })).sort()).toEqual([...expected].sort());
    const inverted = await passing(VALUES, { operator, value, negation: true });
    expect(inverted.sort()).toEqual(VALUES.filter((stored) => !expected.includes(stored)).sort());
  });

  test.each([
    ['is_not', 'exact', ['1', true]],
    ['not_icontains', 'icontains', 'a'],
    ['not_regex', 'regex', '1'],
    ['not_starts_with', 'starts_with', '1'],
    ['not_ends_with', 'ends_with', '1'],
    ['not_between', 'between', [5, 10]],
    ['is_not_set', 'is_set', null],
  ])(
    '%s is passed by all that %s leaves, what is missing or null among them',
    async (negative, positive, value) => {
      const passed = await passing(VALUES, { operator: positive, value });
      expect(passed).not.toHaveLength(0);
      const left = await passing(VALUES, { operator: negative, value });
      expect(left).toEqual(VALUES.filter((stored) => !passed.includes(stored)));
      expect(left).toContain('missing');
      if (negative !== 'is_not_set') expect(left).toContain('null');
    },
  );

  const [first, last] = ['"2024-02-29"', '"9999-12-31T23:59:59.999999999-14:00"'];
  const day = ['"2024-03-01"'];
  const half = ['"2024-03-01T10:30:00Z"', '"2024-03-01T10:30:00.500Z"', '"2024-03-01 10:30"'];
  const east = ['"2024-03-02T00:30:00+05:30"'];

  test.each<[operator: string, value: unknown, passing: string[]]>([
    ['is_date_exact', '2024-03-01', [...day, ...half, ...east]],
    ['is_date_exact', '2024-03-01T10:30:00', half],
    ['is_date_exact', '2024-3-1 12:30+02:00', half],
    ['is_date_before', '2024-03-01', [first]],
    [
      'is_date_before',
      '2024-03-01T10:30:00.5Z',
      [first, ...day, '"2024-03-01T10:30:00Z"', '"2024-03-01 10:30"'],
    ],
    ['is_date_after', '2024-03-01', [...half, ...east, last]],
    ['is_date_after', '2024-03-01T10:30:00Z', ['"2024-03-01T10:30:00.500Z"', ...east, last]],
    ['is_date_before', '-10d', [first]], // before 29 February, 12:00
    ['is_date_before', '9d', [first, ...day, ...half]],
    ['is_date_after', '-9d', [...east, last]],
    ['is_relative_date_after', '-1m', [first, ...day, ...half, ...east, last]],
    ['is_date_after', '1h', [last]],
    ['is_date_after', '0d', [last]],
    ['is_date_before', 'soon', []],
    ['is_date_before', '2024-02-30', []],
    ['is_date_before', '-9999y', []],
    ['is_date_before', ['soon', '2024-03-01'], [first]],
  ])('%s %j is passed by %j', async (operator, value, expected) => {
    expect((await passing(DATES, { operator, value })).sort()).toEqual([...expected].sort());
  });

  describe('of a key', () => {
    test.each(['$geoip city', "a'b", '"', '\\', 'k__exact', 'é', 'k.k', ''])('%j', async (key) => {
      const stored = JSON.stringify({ [key]: 'x' });
      const tree = parseFilter([{ key, value: 'x' }], { defaultType: 'event' });
      const condition = compileFilter(tree, { projectId: 1, now: NOW, event: sql`e.properties` });
      const statement = sql`select ${condition} as passes from (select ${stored}::text::jsonb as properties) e`;
      expect(await runSql(db(), statement)).toEqual([{ passes: true }]);
    });
  });

  test('knows every stored date that exists, in any zone, and takes no other for one', async () => {
    const part = (least: number, most: number, length = 2) =>
      fc.integer({ min: least, max: most }).map((value) => String(value).padStart(length, '0'));
    const date = fc.tuple(part(1900, 2100, 4), part(0, 13), part(0, 32)).map((parts) => parts.join('-'));
    const time = fc.oneof(
      fc.constant(''),
      fc
        .tuple(
          fc.constantFrom('T', ' '),
          part(0, 24),
          part(0, 60),
          part(0, 60),
          fc.constantFrom('', '.5', '.123456'),
        )
        .map(([gap, hour, minute, second, fraction]) => `${gap}${hour}:${minute}:${second}${fraction}`),
    );
    const zone = fc.constantFrom('', 'Z', ' Z', '+00', '+05:30', '-0800', '-14:00', '+14:59', '+15:00', 'z');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(date, time, zone), { minLength: 1, maxLength: 20 }),
        async (given) => {
          const texts = given.map((parts) => parts.join(''));
          const stored = storedDate(sql`to_jsonb(t.text)`, sql`t.text`);
          const rows = await runSql<{ at: string | null }>(
            db(),
            sql`select ${stored} as at from unnest(${texts}::text[]) with ordinality as t (text, position) order by position`,
          );
          expect(rows.map(({ at }) => at)).toEqual(
            given.map(([day, clock, offset]) => instantOf(day, clock, offset)),
          );
        },
      ),
    );
  });
});

function passingInMemory(values: readonly string[], given: object): string[] {
  const [filter] = parseFilter([{ key: 'k', ...given }], { defaultType: 'person', anyPattern: true }).members;
  if (filter?.kind !== 'property') throw new Error('not a filter of a property');
  const matches = compileMatchProperty(filter);
  const properties = (value: string) => (value === 'missing' ? {} : parseJsonObject(`{"k":${value}}`));
  return values.filter((value) => matches(properties(value), NOW));
}

/** What the parts of a stored text mean, as JavaScript reads them; null where they are no date. */
function instantOf(day: string, clock: string, offset: string): string | null {
  const exists = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(exists.getTime()) || exists.toISOString().slice(0, 10) !== day) return null;
  if (offset === 'z' || offset === '+15:00' || (clock === '' && offset !== '')) return null;
  if (clock.slice(1, 3) === '24') return null;
  const zone = offset
    .trim()
    .replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes) => `${hours}:${minutes ?? '00'}`);
  const time = clock === '' ? '00:00:00' : clock.slice(1);
  const at = new Date(`${day}T${time}${zone || 'Z'}`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
