import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { runSql, sql } from '../../../src/server/database/sql.ts';
import { ApiError } from '../../../src/server/http/errors.ts';
import { compileFilter, MAX_CONDITIONS, MAX_PATTERNS } from '../../../src/server/query/compile-filter.ts';
import { loadCohorts, MAX_COHORTS } from '../../../src/server/query/definitions/cohort-store.ts';
import { parseFilter } from '../../../src/server/query/parse-filter.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

const NOW = Date.parse('2024-03-10T12:00:00Z');

onEveryDatabase('a filter', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
    const event = (name: string, id: string, timestamp: string, properties: object = {}) => ({
      event: name,
      timestamp,
      properties: { distinct_id: id, ...properties },
    });
    await api.send(
      event('$set', 'ada', '2024-01-01T00:00:00Z', { $set: { plan: 'pro', age: 36 } }),
      event('$set', 'bob', '2024-01-01T00:00:00Z', { $set: { plan: 'free' } }),
      event('$set', 'cyd', '2024-01-01T00:00:00Z', { $set: { plan: 'pro' } }),
      event('paid', 'ada', '2024-03-10T11:59:59Z', { amount: 5 }),
      event('paid', 'ada', '2024-03-03T12:00:00Z', { amount: 50 }),
      event('paid', 'bob', '2024-03-03T11:59:59Z', { amount: 500 }),
      event('paid', 'cyd', '2024-03-10T12:00:01Z'), // in the future
      event('$identify', 'ada', '2024-03-01T00:00:00Z', { $anon_distinct_id: 'ada-before' }),
      event('paid', 'ada-before', '2024-03-09T00:00:00Z'),
      event('$groupidentify', 'ada', '2024-03-01T00:00:00Z', {
        $group_type: 'company',
        $group_key: 'acme',
        $group_set: { tier: 'gold' },
      }),
      event('visited', 'ada', '2024-03-09T00:00:00Z', { $groups: { company: 'acme' } }),
      event('visited', 'bob', '2024-03-09T00:00:00Z', { $groups: { company: 'other' } }),
    );
  });

  async function persons(given: unknown): Promise<string[]> {
    const filter = parseFilter(given, { defaultType: 'person' });
    const projectId = api.project.id;
    const condition = compileFilter(filter, {
      projectId,
      now: NOW,
      person: { id: sql`p.id`, properties: sql`p.properties` },
      cohorts: await loadCohorts(db(), projectId, filter),
    });
    const rows = await runSql<{ id: string }>(
      db(),
      sql`select min(d.distinct_id) as id from persons p join person_distinct_ids d on d.person_id = p.id
        where p.project_id = ${projectId}::integer and ${condition} group by p.id order by 1`,
    );
    return rows.map(({ id }) => id);
  }

  async function addCohort(properties: unknown, more: { isStatic?: boolean; deleted?: boolean } = {}) {
    const [row] = await runSql<{ id: number }>(
      db(),
      sql`insert into cohorts (project_id, name, filters, is_static, deleted)
        values (${api.project.id}::integer, 'test', ${JSON.stringify({ properties })}::jsonb,
          ${more.isStatic ?? false}, ${more.deleted ?? false}) returning id`,
    );
    return row?.id ?? 0;
  }
  const inCohort = (value: number | number[], more: object = {}) => ({
    key: 'id',
    type: 'cohort',
    value,
    ...more,
  });
  const pro = { key: 'plan', value: 'pro', type: 'person' };

  test('without conditions is passed by all', async () => {
    expect(await persons([])).toEqual(['ada', 'bob', 'cyd']);
    expect(await persons({ type: 'OR', values: [] })).toEqual(['ada', 'bob', 'cyd']);
  });

  test('joins its conditions with AND and OR', async () => {
    const old = { key: 'age', value: 30, operator: 'gt' };
    const free = { key: 'plan', value: 'free' };
    expect(await persons([pro, old])).toEqual(['ada']);
    expect(await persons({ type: 'OR', values: [free, old] })).toEqual(['ada', 'bob']);
    const nested = {
      type: 'AND',
      values: [
        { type: 'OR', values: [free, pro] },
        { type: 'OR', values: [old] },
      ],
    };
    expect(await persons(nested)).toEqual(['ada']);
  });

  const paid = { key: 'paid', type: 'behavioral', event_type: 'events' };
  const week = { time_value: 1, time_interval: 'week' };
  test.each<[what: string, behaviour: object, persons: string[]]>([
    ['did it in time, to the second', { value: 'performed_event', ...week }, ['ada']],
    [
      'did it a little longer ago',
      { value: 'performed_event', time_value: 8, time_interval: 'day' },
      ['ada', 'bob'],
    ],
    ['did it within hours', { value: 'performed_event', time_value: 1, time_interval: 'hour' }, ['ada']],
    ['did not', { value: 'performed_event', ...week, negation: true }, ['bob', 'cyd']],
    [
      'did it with some property',
      {
        value: 'performed_event',
        time_value: 1,
        time_interval: 'year',
        event_filters: [{ key: 'amount', operator: 'gt', value: 49 }],
      },
      ['ada', 'bob'],
    ],
    [
      'did it so often, as whoever they were',
      { value: 'performed_event_multiple', ...week, operator: 'gte', operator_value: 3 },
      ['ada'],
    ],
    [
      'did it more often than they did',
      { value: 'performed_event_multiple', ...week, operator: 'gt', operator_value: 3 },
      [],
    ],
    [
      'did it exactly so often',
      {
        value: 'performed_event_multiple',
        time_value: 1,
        time_interval: 'month',
        operator: 'eq',
        operator_value: 1,
      },
      ['bob'],
    ],
    [
      'did it at most so often, but did it',
      {
        value: 'performed_event_multiple',
        time_value: 1,
        time_interval: 'month',
        operator: 'lte',
        operator_value: 3,
      },
      ['ada', 'bob'],
    ],
    [
      'did not do it so often',
      { value: 'performed_event_multiple', ...week, operator: 'gte', operator_value: 3, negation: true },
      ['bob', 'cyd'],
    ],
    [
      'did it since the world began',
      { value: 'performed_event', time_value: 9999, time_interval: 'year' },
      ['ada', 'bob'],
    ],
  ])('finds who %s', async (_, behaviour, expected) => {
    expect(await persons([{ ...paid, ...behaviour }])).toEqual(expected);
  });

  test('asks for members of cohorts, static ones and those that are defined', async () => {
    const fixed = await addCohort(undefined, { isStatic: true });
    await runSql(
      db(),
      sql`insert into cohort_members (cohort_id, person_id)
        select ${fixed}::integer, person_id from person_distinct_ids
        where project_id = ${api.project.id}::integer and distinct_id = 'bob'`,
    );
    const defined = await addCohort({ type: 'AND', values: [pro] });
    const both = await addCohort({
      type: 'OR',
      values: [
        inCohort(fixed),
        { type: 'AND', values: [inCohort(defined), { key: 'age', operator: 'is_set' }] },
      ],
    });
    expect(await persons([inCohort(fixed)])).toEqual(['bob']);
    expect(await persons([inCohort(defined)])).toEqual(['ada', 'cyd']);
    expect(await persons([inCohort(both)])).toEqual(['ada', 'bob']);
    expect(await persons([inCohort(both, { negation: true })])).toEqual(['cyd']);
    expect(await persons([inCohort(defined, { operator: 'not_in' })])).toEqual(['bob']);
    expect(await persons([inCohort([fixed, defined])])).toEqual(['ada', 'bob', 'cyd']);
    expect(await persons([inCohort([fixed, defined], { operator: 'not_in' })])).toEqual([]);
  });

  test('has nobody in a cohort that is gone, and nobody outside of it', async () => {
    const deleted = await addCohort({ type: 'AND', values: [pro] }, { deleted: true });
    for (const id of [deleted, 2 ** 31 - 1]) {
      expect(await persons([inCohort(id)])).toEqual([]);
      expect(await persons([inCohort(id, { negation: true })])).toEqual([]);
      expect(await persons({ type: 'OR', values: [inCohort(id), pro] })).toEqual(['ada', 'cyd']);
    }
    const other = await createTestApi(db());
    const filter = parseFilter([inCohort(await addCohort({ type: 'AND', values: [pro] }))], {
      defaultType: 'person',
    });
    expect(await loadCohorts(db(), other.project.id, filter)).toEqual(new Map());
  });

  test('refuses cohorts that contain themselves, and too many of them', async () => {
    const first = await addCohort(undefined);
    const second = await addCohort({ type: 'AND', values: [inCohort(first)] });
    await runSql(
      db(),
      sql`update cohorts set filters = ${JSON.stringify({ properties: { type: 'AND', values: [inCohort(second)] } })}::jsonb
        where id = ${first}::integer`,
    );
    await expect(persons([inCohort(first)])).rejects.toThrow(/contains itself/);

    const many = Array.from({ length: MAX_COHORTS }, (_, index) => 1_000_000 + index);
    expect(await persons([inCohort(many)])).toEqual([]);
    await expect(persons([inCohort([...many, 1])])).rejects.toThrow(`${MAX_COHORTS} cohorts at most`);
  });

  test('may have so many conditions and patterns with its cohorts, and no more', async () => {
    const hundred = await addCohort({ type: 'AND', values: Array(99).fill(pro) });
    const conditions = Array(MAX_CONDITIONS / 100).fill(inCohort(hundred)); // each one more than what it stands for
    expect(await persons(conditions)).toEqual(['ada', 'cyd']);
    await expect(persons([...conditions, pro])).rejects.toThrow(`${MAX_CONDITIONS} conditions`);
    const pattern = (count: number) => ({ key: 'plan', operator: 'regex', value: Array(count).fill('^p') });
    expect(await persons([pattern(MAX_PATTERNS - 1), pattern(1)])).toEqual(['ada', 'cyd']);
    await expect(persons([pattern(MAX_PATTERNS), pattern(1)])).rejects.toThrow(`${MAX_PATTERNS} patterns`);
  });

  test('of events asks for the properties of their groups', async () => {
    const ids = async (given: object) => {
      const filter = parseFilter([{ type: 'group', group_type_index: 0, ...given }], {
        defaultType: 'event',
      });
      const condition = compileFilter(filter, {
        projectId: api.project.id,
        now: NOW,
        event: sql`e.properties`,
      });
      const rows = await runSql<{ distinct_id: string }>(
        db(),
        sql`select distinct_id from events e where e.project_id = ${api.project.id}::integer
          and e.event = 'visited' and ${condition} order by 1`,
      );
      return rows.map(({ distinct_id }) => distinct_id);
    };
    expect(await ids({ key: 'tier', value: 'gold' })).toEqual(['ada']);
    expect(await ids({ key: 'tier', operator: 'is_not', value: 'gold' })).toEqual(['bob']);
    expect(await ids({ key: 'tier', operator: 'is_not_set' })).toEqual(['bob']);
    expect(await ids({ key: 'tier', value: 'gold', group_type_index: 1 })).toEqual([]);
  });

  test.each([
    ['event', { key: 'a', value: 1, type: 'event' }],
    ['group', { key: 'a', value: 1, type: 'group', group_type_index: 0 }],
  ])('of persons refuses what only events have: %s', async (type, item) => {
    await expect(persons([item])).rejects.toThrow(`Filters of type "${type}" cannot be used here.`);
  });

  test('whatever it is made of is refused with 400 or answered', async () => {
    const word = fc.constantFrom(
      'key',
      'value',
      'type',
      'operator',
      'values',
      'person',
      'cohort',
      'behavioral',
      'AND',
    );
    const operator = fc.constantFrom(
      'exact',
      'regex',
      'gt',
      'between',
      'is_date_before',
      'is_date_exact',
      'not_icontains',
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'0123456789-+.eE:TZ hdwmy') }),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constantFrom('1e999', '1e-999', '-0', 'Infinity', '\0', '\ud800', '(', 'performed_event'),
    );
    const item = fc.record(
      {
        key: fc.string({ unit: 'binary' }),
        operator,
        value,
        type: fc.constantFrom('person', 'cohort', 'group', 'event'),
      },
      { requiredKeys: ['key'] },
    );
    const tree = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(word, fc.jsonValue()),
      fc.array(item, { maxLength: 3 }),
      fc.record({ type: fc.constantFrom('AND', 'OR'), values: fc.array(item, { maxLength: 3 }) }),
    );
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (given, asText) => {
        try {
          await persons(asText ? JSON.stringify(given) : given);
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 400) throw error;
        }
      }),
      { numRuns: 400 },
    );
  });
});
