import { beforeAll, describe, expect, test } from 'vitest';
import type { CohortBody } from '../../../src/server/cohorts/schema.ts';
import type { ErrorEnvelope } from '../../../src/server/http/errors.ts';
import type { Paged } from '../../../src/server/http/paging.ts';
import type { PersonBody } from '../../../src/server/persons/schema.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

const START = Date.parse('2024-03-10T12:00:00Z');

const pro = { key: 'plan', value: 'pro', type: 'person' };
const defined = (...values: object[]) => ({ properties: { type: 'OR', values: [{ type: 'AND', values }] } });
const inCohort = (value: number) => ({ key: 'id', type: 'cohort', value });

onEveryDatabase('cohorts', (db) => {
  let api: TestApi;
  let now = START;
  beforeAll(async () => {
    api = await createTestApi(db(), () => now);
    await api.send(
      ...['ada', 'bob', 'cyd', 'dan'].map((id, index) => ({
        event: '$set',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: id, $set: { plan: index % 2 === 0 ? 'pro' : 'free' } },
      })),
      { event: 'paid', timestamp: '2024-03-09T00:00:00Z', properties: { distinct_id: 'bob' } },
    );
  });

  async function ask<T>(
    method: string,
    path: string,
    body?: unknown,
    status = method === 'POST' ? 201 : 200,
  ): Promise<T> {
    const response = await api.call(method, path, body);
    const answer = await response.json();
    expect({ status: response.status, answer }).toMatchObject({ status });
    return answer as T;
  }
  const make = (body: object) => ask<CohortBody>('POST', 'cohorts/', body);
  const change = (id: number, body: object) => ask<CohortBody>('PATCH', `cohorts/${id}/`, body);
  const refused = async (method: string, path: string, body: unknown, status = 400) => {
    const { detail, attr } = await ask<ErrorEnvelope>(method, path, body, status);
    return { detail, attr };
  };
  const add = (id: number, body: object) =>
    ask<CohortBody>('PATCH', `cohorts/${id}/add_persons_to_static_cohort/`, body);
  const remove = (id: number, body: object) =>
    ask<CohortBody>('PATCH', `cohorts/${id}/remove_persons_from_static_cohort/`, body);
  const persons = async (query: string) => (await api.read<Paged<PersonBody>>(`persons/?${query}`)).results;
  const person = async (distinctId: string) => {
    const [found] = await persons(`distinct_id=${distinctId}`);
    if (found === undefined) throw new Error(`no person ${distinctId}`);
    return found;
  };
  const members = async (id: number) =>
    (await persons(`cohort=${id}`)).map(({ distinct_ids }) => distinct_ids[0] ?? '').sort();
  const cohortsOf = async (id: number | string) =>
    (await api.read<{ results: CohortBody[] }>(`persons/cohorts/?person_id=${id}`)).results.map(
      ({ name }) => name,
    );

  test('are made with the fields that clients of the service read', async () => {
    const filters = defined(pro);
    const made = await make({ name: 'Pro', description: 'They pay.', filters });
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'Pro',
      description: 'They pay.',
      groups: [],
      deleted: false,
      filters,
      query: null,
      is_calculating: false,
      created_by: expect.objectContaining({ id: expect.any(Number), email: 'owner@backhaul.invalid' }),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_calculation: '2024-03-10T12:00:00.000Z',
      errors_calculating: 0,
      count: 2,
      is_static: false,
    });
    expect(await ask('GET', `cohorts/${made.id}/`)).toEqual(made);
    expect(await members(made.id)).toEqual(['ada', 'cyd']);
    expect(await make({ filters: defined(pro) })).toMatchObject({ name: null, description: '' });
  });

  test('are defined by behaviour, by other cohorts and by the older groups', async () => {
    const paid = {
      type: 'behavioral',
      key: 'paid',
      value: 'performed_event',
      event_type: 'events',
      time_value: 30,
      time_interval: 'day',
    };
    const payers = await make({ name: 'Payers', filters: defined(paid) });
    expect(await members(payers.id)).toEqual(['bob']);
    const others = await make({
      filters: defined({ ...inCohort(payers.id), negation: true }, { ...pro, operator: 'is_not' }),
    });
    expect(await members(others.id)).toEqual(['dan']);
    const groups = [{ properties: [pro] }, { properties: [{ ...inCohort(payers.id) }] }];
    const older = await make({ groups });
    expect(older).toMatchObject({ groups, count: 3 });
    expect(older.filters).toEqual({
      properties: {
        type: 'OR',
        values: groups.map(({ properties }) => ({ type: 'AND', values: properties })),
      },
    });
    expect(await members(older.id)).toEqual(['ada', 'bob', 'cyd']);
    now += 40 * 86_400_000;
    expect(await members(payers.id)).toEqual([]);
    now = START;
  });

  test('are listed newest first, page by page, without deleted ones', async () => {
    const other = await createTestApi(db());
    const ids: number[] = [];
    for (const name of ['one', 'two', 'three']) {
      const response = await other.call('POST', 'cohorts/', { name, is_static: true });
      ids.push(((await response.json()) as CohortBody).id);
    }
    await other.call('PATCH', `cohorts/${ids[1]}/`, { deleted: true });
    const page = await other.read<Paged<CohortBody>>('cohorts/?limit=1');
    expect(page).toMatchObject({ count: 2, previous: null, next: expect.stringContaining('offset=1') });
    expect(page.results.map(({ name }) => name)).toEqual(['three']);
    const rest = await other.read<Paged<CohortBody>>('cohorts/?limit=1&offset=1');
    expect(rest.results.map(({ name }) => name)).toEqual(['one']);
    expect((await api.get(`cohorts/${ids[0]}/`)).status).toBe(404); // of another project
  });

  test('are counted again once their count is old', async () => {
    const { id } = await make({ filters: defined({ key: 'size', value: 9 }) });
    const grow = (distinctId: string) =>
      api.send({
        event: '$set',
        properties: { distinct_id: distinctId, $set: { size: 9 } },
        timestamp: '2024-01-01T00:00:00Z',
      });
    await grow('dan');
    now = START + 15_000;
    expect(await ask('GET', `cohorts/${id}/`)).toMatchObject({
      count: 0,
      last_calculation: '2024-03-10T12:00:00.000Z',
    });
    now = START + 15_001;
    expect(await ask('GET', `cohorts/${id}/`)).toMatchObject({
      count: 1,
      last_calculation: '2024-03-10T12:00:15.001Z',
    });
    await grow('bob');
    now = START + 60_000;
    const { results } = await api.read<Paged<CohortBody>>('cohorts/');
    expect(results.find((cohort) => cohort.id === id)).toMatchObject({ count: 2 });
    now = START;
  });

  test('change field by field, and count what they are now', async () => {
    const { id } = await make({ name: 'Before', description: 'kept', filters: defined(pro) });
    const free = defined({ ...pro, value: 'free' });
    expect(await change(id, { name: 'After' })).toMatchObject({
      name: 'After',
      description: 'kept',
      filters: defined(pro),
      count: 2,
    });
    const changed = await change(id, { filters: free, query: null, count: 99 });
    expect(changed).toMatchObject({ name: 'After', filters: free, count: 2 });
    expect(await members(id)).toEqual(['bob', 'dan']);
    expect(await change(id, { ...changed, name: 'Echo' })).toEqual({ ...changed, name: 'Echo' });
    expect(await change(id, {})).toMatchObject({ name: 'Echo' });
  });

  test('are deleted softly, and brought back', async () => {
    const { id, name } = await make({ name: 'Passing', filters: defined(pro) });
    const { id: ada } = await person('ada');
    expect(await cohortsOf(ada)).toContain(name);
    expect(await change(id, { deleted: true })).toMatchObject({ deleted: true });
    expect(await cohortsOf(ada)).not.toContain(name);
    expect(await members(id)).toEqual([]);
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['PATCH', { deleted: true }]] as const) {
      expect((await api.call(method, `cohorts/${id}/`, body)).status).toBe(404);
    }
    expect(await change(id, { deleted: false })).toMatchObject({ deleted: false, name });
    expect(await cohortsOf(ada)).toContain(name);
    expect((await api.call('DELETE', `cohorts/${id}/`)).status).toBe(405);
  });

  test('leave their changes in the log', async () => {
    const { id } = await make({ name: 'Logged', filters: defined(pro) });
    await change(id, { description: 'x', filters: defined(pro) });
    await change(id, { deleted: true });
    const rows = await db().query<{ activity: string; detail: string }>(
      `select activity, detail from activity_log where scope = 'Cohort' and item_id = $1 order by id`,
      [String(id)],
    );
    expect(rows.map(({ activity }) => activity)).toEqual(['created', 'updated', 'deleted']);
    const fields = (JSON.parse(rows[1]?.detail ?? '{}') as { changes: { field: string }[] }).changes;
    expect(fields.map(({ field }) => field)).toEqual(['description', 'filters']);
  });

  describe('with a bad definition', () => {
    test.each<[what: string, body: object, attr: string, detail: RegExp]>([
      ['none', {}, 'filters', /at least one condition/],
      ['an empty one', { filters: {} }, 'filters', /at least one condition/],
      ['no properties', { filters: { values: [] } }, 'filters', /^Must contain a "properties" key/],
      [
        'properties of another form',
        { filters: { properties: { type: 'OR' } } },
        'filters',
        /^Must contain a "properties" key/,
      ],
      ['no conditions', { filters: defined() }, 'filters', /at least one condition/],
      ['filters that are text', { filters: 'x' }, 'filters', /^Filters must be a dictionary\.$/],
      [
        'an item without a value',
        { filters: defined({ key: 'a' }) },
        'filters',
        /^The value of a filter is missing\.$/,
      ],
      [
        'an unknown operator',
        { filters: defined({ key: 'a', value: 1, operator: 'near' }) },
        'filters',
        /"near"/,
      ],
      [
        'other behaviour',
        { filters: defined({ type: 'behavioral', key: 'e', value: 'performed_event_first_time' }) },
        'filters',
        /"performed_event_first_time" is not supported/,
      ],
      [
        'a property of events',
        { filters: defined({ key: 'a', value: 1, type: 'event' }) },
        'filters',
        /cannot be used here/,
      ],
      [
        'an unknown cohort',
        { filters: defined(inCohort(999_999)) },
        'filters',
        /^Cohort 999999 does not exist\.$/,
      ],
      ['groups of actions', { groups: [{ action_id: 5, days: 7 }] }, 'groups', /use filters/],
      [
        'groups that are also of events',
        { groups: [{ properties: [pro], event_id: 'e' }] },
        'groups',
        /use filters/,
      ],
      ['a query', { query: { kind: 'HogQLQuery' } }, 'query', /query/],
      [
        'a definition of a static one',
        { is_static: true, filters: defined(pro) },
        'filters',
        /^A static cohort/,
      ],
      [
        'groups of a static one',
        { is_static: true, groups: [{ properties: [pro] }] },
        'groups',
        /^A static cohort/,
      ],
      ['too long a name', { name: 'x'.repeat(401), filters: defined(pro) }, 'name', /400/],
    ])('are refused: %s', async (_, body, attr, detail) => {
      expect(await refused('POST', 'cohorts/', body)).toEqual({
        attr,
        detail: expect.stringMatching(detail),
      });
    });

    test('are refused when they would contain themselves, straight or round about', async () => {
      const first = await make({ filters: defined(pro) });
      const second = await make({ filters: defined(inCohort(first.id)) });
      for (const { id } of [first, second]) {
        expect(await refused('PATCH', `cohorts/${first.id}/`, { filters: defined(inCohort(id)) })).toEqual({
          detail: 'A cohort cannot contain itself.',
          attr: 'filters',
        });
      }
      expect(await ask('GET', `cohorts/${first.id}/`)).toMatchObject({ filters: defined(pro) });
    });

    test('keep what they were when only the kind is to change', async () => {
      const { id } = await make({ filters: defined(pro) });
      expect(await refused('PATCH', `cohorts/${id}/`, { is_static: true })).toMatchObject({
        attr: 'is_static',
      });
    });

    test('that contain each other all the same are counted as an error and hold nobody', async () => {
      const first = await make({ name: 'Ring', filters: defined(pro) });
      const second = await make({ name: 'Ring', filters: defined(inCohort(first.id)) });
      await db().query('update cohorts set filters = $1::jsonb where id = $2', [
        JSON.stringify(defined(inCohort(second.id))),
        first.id,
      ]);
      now = START + 60_000;
      expect(await ask('GET', `cohorts/${first.id}/`)).toMatchObject({ count: 2, errors_calculating: 1 });
      now = START;
      expect(await cohortsOf((await person('ada')).id)).not.toContain('Ring');
      expect((await api.get(`persons/?cohort=${first.id}`)).status).toBe(400);
      for (const { id } of [first, second]) await change(id, { deleted: true });
    });
  });

  describe('that are static', () => {
    test('take persons by number, uuid and distinct id, once each', async () => {
      const { id } = await make({ name: 'Hand-picked', is_static: true, filters: {}, groups: [] });
      const [ada, bob] = [await person('ada'), await person('bob')];
      const named = {
        person_ids: [ada.id, bob.uuid.toUpperCase(), String(ada.id)],
        distinct_ids: ['cyd', 'ada'],
      };
      expect(await add(id, named)).toMatchObject({ id, is_static: true, count: 3 });
      expect(await add(id, { distinct_ids: ['cyd'] })).toMatchObject({ count: 3 });
      expect(await members(id)).toEqual(['ada', 'bob', 'cyd']);
      expect(
        await remove(id, { person_ids: [ada.uuid, 999_999], distinct_ids: ['nobody', 'dan'] }),
      ).toMatchObject({ count: 2 });
      expect(await members(id)).toEqual(['bob', 'cyd']);
    });

    test('take all of them or none', async () => {
      const { id } = await make({ is_static: true });
      const path = `cohorts/${id}/add_persons_to_static_cohort/`;
      const unknown = ['a', 'b', 'c', 'd', 'e', 'f'];
      expect(await refused('PATCH', path, { distinct_ids: ['ada', ...unknown] })).toEqual({
        detail: 'These persons do not exist: "a", "b", "c", "d", "e" and 1 more.',
        attr: 'distinct_ids',
      });
      expect(await refused('PATCH', path, { person_ids: ['ada'] })).toEqual({
        detail: '"ada" is no id of a person: an integer or a uuid.',
        attr: 'person_ids',
      });
      expect(await refused('PATCH', path, { person_ids: [999_999_999] })).toMatchObject({
        attr: 'person_ids',
      });
      expect(await refused('PATCH', path, {})).toEqual({
        detail: 'This field is required.',
        attr: 'person_ids',
      });
      expect(await members(id)).toEqual([]);
    });

    test('take so many at once, and no more', async () => {
      const { id } = await make({ is_static: true });
      const ids = (count: number) => ({ person_ids: Array(count).fill((1).toString()) });
      const path = `cohorts/${id}/remove_persons_from_static_cohort/`;
      expect((await api.call('PATCH', path, ids(10_000))).status).toBe(200);
      expect(await refused('PATCH', path, ids(10_001))).toMatchObject({ attr: 'person_ids' });
    });

    test('do not take strangers, and dynamic ones take nobody', async () => {
      const other = await createTestApi(db());
      await other.send({
        event: 'e',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: 'stranger' },
      });
      const [stranger] = (await other.read<Paged<PersonBody>>('persons/')).results;
      const { id } = await make({ is_static: true });
      const path = `cohorts/${id}/add_persons_to_static_cohort/`;
      expect(await refused('PATCH', path, { person_ids: [stranger?.id] })).toMatchObject({
        attr: 'person_ids',
      });
      const dynamic = await make({ filters: defined(pro) });
      const members = { distinct_ids: ['ada'] };
      await refused('PATCH', `cohorts/${dynamic.id}/add_persons_to_static_cohort/`, members);
      await refused('PATCH', 'cohorts/999999/add_persons_to_static_cohort/', members, 404);
      await refused('PATCH', 'cohorts/99999999999/add_persons_to_static_cohort/', members, 404);
    });

    test('follow persons that are merged, and forget those that are deleted', async () => {
      await api.send(
        ...['old', 'older', 'new', 'gone'].map((id) => ({
          event: 'e',
          timestamp: '2024-01-01T00:00:00Z',
          properties: { distinct_id: id },
        })),
      );
      const both = await make({ name: 'Both', is_static: true });
      const ended = await make({ name: 'Ended', is_static: true });
      await add(both.id, { distinct_ids: ['old', 'new', 'gone'] });
      await add(ended.id, { distinct_ids: ['old', 'older'] });
      const merge = (from: string) => ({
        event: '$identify',
        timestamp: '2024-01-02T00:00:00Z',
        properties: { distinct_id: 'new', $anon_distinct_id: from },
      });
      await api.send(merge('old'), merge('older'));
      expect(await members(both.id)).toHaveLength(2);
      expect(
        (await persons(`cohort=${ended.id}`)).map(({ distinct_ids }) => [...distinct_ids].sort()),
      ).toEqual([['new', 'old', 'older']]);
      expect(await cohortsOf((await person('old')).uuid)).toEqual(expect.arrayContaining(['Both', 'Ended']));
      await api.call('DELETE', `persons/${(await person('gone')).id}/`);
      expect(await members(both.id)).toHaveLength(1);
      now = START + 60_000;
      expect(await ask('GET', `cohorts/${both.id}/`)).toMatchObject({ count: 1 });
      now = START;
    });
  });

  describe('of a person', () => {
    test('are static and dynamic ones, by number and by uuid', async () => {
      const other = await createTestApi(db(), () => now);
      await other.send({
        event: '$set',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: 'eve', $set: { plan: 'pro' } },
      });
      const [eve] = (await other.read<Paged<PersonBody>>('persons/')).results;
      const call = async (path: string, body: unknown, method = 'POST') =>
        (await (await other.call(method, path, body)).json()) as CohortBody;
      await call('cohorts/', { name: 'Dynamic', filters: defined(pro) });
      await call('cohorts/', { name: 'Not hers', filters: defined({ ...pro, value: 'free' }) });
      const fixed = await call('cohorts/', { name: 'Static', is_static: true });
      await call('cohorts/', { name: 'Static, not hers', is_static: true });
      await call(`cohorts/${fixed.id}/add_persons_to_static_cohort/`, { distinct_ids: ['eve'] }, 'PATCH');
      await call('cohorts/', { name: 'Nested', filters: defined(inCohort(fixed.id)) });
      for (const id of [eve?.id, eve?.uuid]) {
        const { results } = await other.read<{ results: CohortBody[] }>(`persons/cohorts/?person_id=${id}`);
        expect(results.map(({ name }) => name)).toEqual(['Nested', 'Static', 'Dynamic']);
        expect(results[1]).toMatchObject({
          id: fixed.id,
          is_static: true,
          created_by: { id: expect.any(Number) },
        });
      }
      const csv = await (await other.get(`persons/cohorts/?person_id=${eve?.id}&format=csv`)).text();
      expect(
        csv
          .split('\n')
          .slice(1, 4)
          .every((line) => /Nested|Static|Dynamic/.test(line)),
      ).toBe(true);
      expect((await api.get(`persons/cohorts/?person_id=${eve?.id}`)).status).toBe(404); // of another project
    });

    test('need a person', async () => {
      expect(await refused('GET', 'persons/cohorts/', undefined)).toEqual({
        detail: 'This field is required.',
        attr: 'person_id',
      });
      expect(await refused('GET', 'persons/cohorts/?person_id=', undefined)).toMatchObject({
        attr: 'person_id',
      });
      expect(await refused('GET', 'persons/cohorts/?person_id=ada', undefined)).toMatchObject({
        detail: expect.stringMatching(/personID/),
      });
      for (const id of ['999999', '99999999999', '00000000-0000-4000-8000-000000000000']) {
        expect(await refused('GET', `persons/cohorts/?person_id=${id}`, undefined, 404)).toMatchObject({
          detail: 'Person not found.',
        });
      }
    });
  });
});
