import { beforeEach, describe, expect, test } from 'vitest';
import { declareFlags } from '../../../src/server/flags/declare-flags.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { addFlag } from './flag-lab.ts';

interface Flag {
  readonly id: number;
  readonly key: string;
  readonly version: number;
  readonly filters: object;
}

onEveryDatabase('feature flags', (db) => {
  let api: TestApi;

  beforeEach(async () => {
    api = await createTestApi(db());
  });

  async function change(method: 'POST' | 'PATCH', path: string, body: object, status: number): Promise<Flag> {
    const response = await api.call(method, path, body);
    expect(response.status, await response.clone().text()).toBe(status);
    return (await response.json()) as Flag;
  }
  const create = (body: object, status = 201) => change('POST', 'feature_flags/', body, status);

  test('are made, read, changed, deleted and brought back', async () => {
    const filters = { groups: [{ properties: [], rollout_percentage: 30 }] };
    const flag = await create({ key: 'new-page', name: 'The new page', filters });
    expect(flag).toMatchObject({
      key: 'new-page',
      active: true,
      version: 1,
      is_simple_flag: true,
      rollout_percentage: 30,
    });
    expect(await api.read(`feature_flags/${flag.id}/`)).toEqual(flag);
    const changed = await change('PATCH', `feature_flags/${flag.id}/`, { active: false }, 200);
    expect(changed).toMatchObject({ active: false, version: 2, filters });
    expect(await api.read('feature_flags/')).toMatchObject({ count: 1, results: [{ key: 'new-page' }] });
    await change('PATCH', `feature_flags/${flag.id}/`, { deleted: true }, 200);
    expect(await api.read('feature_flags/')).toMatchObject({ count: 0 });
    await create({ key: 'new-page' });
    await change('PATCH', `feature_flags/${flag.id}/`, { deleted: false }, 400);
  });

  test('are taken as clients of the service send them', async () => {
    const property = {
      key: 'plan',
      value: ['pro'],
      operator: 'exact',
      type: 'person',
      label: 'Plan',
      negation: false,
      group_type_index: null,
    };
    const condition = {
      variant: null,
      rollout_percentage: null,
      users_affected: 5,
      sort_key: 'b2',
      description: 'Pro',
      aggregation_group_type_index: null,
    };
    const filters = {
      groups: [{ ...condition, properties: [property] }],
      payloads: {},
      multivariate: null,
      super_groups: null,
      holdout_groups: null,
      holdout: null,
      feature_enrollment: null,
      aggregation_group_type_index: null,
      early_exit: false,
    };
    const flag = await create({ key: 'as-sent', filters, tags: [], evaluation_runtime: 'all' });
    expect(flag.filters).toEqual(filters);
    // As it was read, and as a copy.
    await change('PATCH', `feature_flags/${flag.id}/`, flag, 200);
    await create({ ...flag, key: 'copy' });
  });

  test('of which an older version stored more are decided', async () => {
    await addFlag(db(), api.project.id, 'older', {
      groups: [{ rollout_percentage: 100, extra: 1 }],
      more: [],
    });
    const asked = { api_key: api.project.projectKey, distinct_id: 'ada' };
    expect(await (await api.post('/decide?v=3', asked)).json()).toMatchObject({
      featureFlags: { older: true },
      errorComputingFlags: false,
    });
  });

  test('are changed by one person at a time', async () => {
    const flag = await create({ key: 'a' });
    await change('PATCH', `feature_flags/${flag.id}/`, { name: 'first', version: 1 }, 200);
    const late = await change('PATCH', `feature_flags/${flag.id}/`, { name: 'second', version: 1 }, 409);
    expect(late).toMatchObject({ detail: expect.stringContaining('it has version 2') });
  });

  describe('are refused', () => {
    const half = { key: 'a', rollout_percentage: 50 };
    test.each<[what: string, body: object, detail: RegExp]>([
      ['without a key', {}, /required/i],
      ['with a key of other characters', { key: 'a b' }, /Only letters/],
      ['with a share above 100', { key: 'a', filters: { groups: [{ rollout_percentage: 101 }] } }, /100/],
      [
        'with variants that do not add up',
        { key: 'a', filters: { groups: [], multivariate: { variants: [half] } } },
        /sum to 100/,
      ],
      [
        'with a variant that it does not have',
        { key: 'a', filters: { groups: [{ variant: 'x' }] } },
        /variant "x"/,
      ],
      [
        'with a payload of no variant',
        { key: 'a', filters: { groups: [], payloads: { x: '1' } } },
        /Payload keys/,
      ],
      [
        'with an unknown operator',
        { key: 'a', filters: { groups: [{ properties: [{ key: 'k', operator: 'like', value: 1 }] }] } },
        /like/,
      ],
      [
        'with a property of a group',
        {
          key: 'a',
          filters: { groups: [{ properties: [{ key: 'k', value: 1, type: 'group', group_type_index: 0 }] }] },
        },
        /person and cohort/,
      ],
      [
        'with a cohort that is missing',
        { key: 'a', filters: { groups: [{ properties: [{ key: 'id', type: 'cohort', value: 999_999 }] }] } },
        /does not exist/,
      ],
      [
        'with a flag that is missing',
        { key: 'a', filters: { groups: [{ properties: [{ key: 'gone', type: 'flag', value: true }] }] } },
        /"gone" does not exist/,
      ],
      [
        'that depend on themselves',
        { key: 'a', filters: { groups: [{ properties: [{ key: 'a', type: 'flag', value: true }] }] } },
        /depend on itself/,
      ],
      [
        'with a pattern that cannot be searched for',
        { key: 'a', filters: { groups: [{ properties: [{ key: 'k', operator: 'regex', value: '(a' }] }] } },
        /pattern "\(a" of "k"/,
      ],
      [
        'with a payload that is not JSON',
        { key: 'a', filters: { groups: [], payloads: { true: 'hello' } } },
        /payload of "true" is not JSON/,
      ],
      [
        'with a share as text',
        { key: 'a', filters: { groups: [{ rollout_percentage: '20' }] } },
        /a number from 0 to 100/,
      ],
      [
        'with conditions about somebody else',
        { key: 'a', filters: { groups: [{ aggregation_group_type_index: 0 }] } },
        /about groups of type 0, and the flag about persons/,
      ],
      ['with shares of devices', { key: 'a', bucketing_identifier: 'device_id' }, /"device_id"/],
      ['with an early exit', { key: 'a', filters: { groups: [{}], early_exit: true } }, /not a valid choice/],
      ['with a share beside the definition', { key: 'a', rollout_percentage: 0 }, /filters\.groups/],
    ])('%s', async (_, body, detail) => {
      expect(await create(body, 400)).toMatchObject({ detail: expect.stringMatching(detail) });
    });

    test.each<[body: object, attr: string, near: string]>([
      [{ filter: {} }, 'filter', 'filters'],
      [{ filters: { groupz: [] } }, 'filters__groupz', 'groups'],
      [{ filters: { groups: [{ propertys: [] }] } }, 'filters__groups__0__propertys', 'properties'],
      [
        { filters: { groups: [{}, { rolout_percentage: 0 }] } },
        'filters__groups__1__rolout_percentage',
        'rollout_percentage',
      ],
      [
        { filters: { groups: [{ properties: [{ key: 'k', value: 1, negatoin: true }] }] } },
        'filters__groups__0__properties__0__negatoin',
        'negation',
      ],
      [
        { filters: { multivariate: { variants: [{ key: 'a', rollout_percentage: 100, nam: '' }] } } },
        'filters__multivariate__variants__0__nam',
        'name',
      ],
    ])('with an unknown field: %j', async (body, attr, near) => {
      const refused = await create({ key: 'a', ...body }, 400);
      const name = attr.split('__').at(-1);
      expect(refused).toMatchObject({
        attr,
        detail: `Unknown field "${name}"; did you mean "${near}"?`,
      });
    });

    test('with the key of another', async () => {
      await create({ key: 'a' });
      expect(await create({ key: 'a' }, 400)).toMatchObject({ attr: 'key', code: 'unique' });
    });

    test('with a key that is the id of a flag on which another depends', async () => {
      const base = await create({ key: 'base' });
      const [same, free] = [String(base.id), String(base.id + 1000)];
      const onId = { groups: [{ properties: [{ key: same, type: 'flag', value: true }] }] };
      await create({ key: 'by-id', filters: onId });
      expect(await create({ key: same }, 400)).toMatchObject({
        attr: 'key',
        detail: expect.stringContaining(`"${same}", which is the id of the flag "base"`),
      });
      await create({ key: free });
    });

    test('where one that depends on them would be left', async () => {
      const base = await create({ key: 'base' });
      await create({
        key: 'b',
        filters: { groups: [{ properties: [{ key: 'base', type: 'flag', value: true }] }] },
      });
      for (const body of [{ deleted: true }, { active: false }, { key: 'renamed' }]) {
        const left = await change('PATCH', `feature_flags/${base.id}/`, body, 400);
        expect(left).toMatchObject({ detail: expect.stringContaining('"b" depends on "base"') });
      }
      await change('PATCH', `feature_flags/${base.id}/`, { key: 'base', name: 'the same key' }, 200);
    });
  });

  test('are switched off whatever is wrong with them, and hold no others up', async () => {
    const [cohort] = await db().query<{ id: number }>(
      `insert into cohorts (project_id, name, is_static) values ($1, 'gone', true) returning id`,
      [api.project.id],
    );
    const inCohort = { groups: [{ properties: [{ key: 'id', value: cohort?.id, type: 'cohort' }] }] };
    const lost = await create({ key: 'lost', filters: inCohort });
    await db().query(`update cohorts set deleted = true`);
    await change('PATCH', `feature_flags/${lost.id}/`, { active: false }, 200);
    await change('PATCH', `feature_flags/${lost.id}/`, { active: true }, 400);
    const odd = await create({ key: 'odd' });
    const sound = await create({ key: 'sound' });
    await db().query(`update feature_flags set filters = '{"groups": "?"}' where id = $1`, [odd.id]);
    await change('PATCH', `feature_flags/${sound.id}/`, { filters: { groups: [{}] } }, 200);
    await change('PATCH', `feature_flags/${sound.id}/`, { active: false }, 200);
    await change('PATCH', `feature_flags/${odd.id}/`, { active: false }, 200);
  });

  test('say why somebody gets what they get', async () => {
    await api.send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
    });
    const plan = { key: 'plan', value: 'pro', type: 'person' };
    const age = { key: 'age', operator: 'gt', value: 30, type: 'person' };
    await create({
      key: 'a',
      filters: { groups: [{ properties: [plan, age] }, { properties: [plan] }, {}] },
    });
    const asked = { distinct_id: 'ada', person_properties: { age: 20 } };
    const response = await api.call('POST', 'feature_flags/a/test/', asked);
    expect(await response.json()).toMatchObject({
      key: 'a',
      value: true,
      reason: 'Matched condition set 2',
      identifier: 'ada',
      conditions: [
        {
          condition: 1,
          outcome: 'no_match',
          properties: [
            { asks: 'plan exact pro', passes: true, value: 'pro', from: 'stored' },
            { asks: 'age gt 30', passes: false, value: 20, from: 'request' },
          ],
        },
        { condition: 2, outcome: 'match', rollout: 1 },
        { condition: 3, outcome: 'not_asked' },
      ],
    });
    expect((await api.call('POST', 'feature_flags/none/test/', asked)).status).toBe(404);
  });

  test('say what somebody is in: early access, and cohorts by name', async () => {
    const made = await api.call('POST', 'cohorts/', {
      name: 'Paying',
      filters: { properties: { type: 'AND', values: [{ key: 'plan', value: 'pro', type: 'person' }] } },
    });
    const { id } = (await made.json()) as { id: number };
    const groups = [
      { properties: [{ key: 'id', value: id, type: 'cohort', negation: true }] },
      { properties: [{ key: 'id', value: id, type: 'cohort' }] },
    ];
    await create({ key: 'early', filters: { feature_enrollment: true, groups } });
    const explain = async (person_properties: object) => {
      const asked = { distinct_id: 'bob', person_properties };
      return (await api.call('POST', 'feature_flags/early/test/', asked)).json();
    };
    await api.send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'bob', $set: { seen: true } },
    });
    const cohort = { id, name: 'Paying', is_member: true };
    expect(await explain({ plan: 'pro' })).toMatchObject({
      early_access: {
        outcome: 'not_asked',
        properties: [{ asks: '$feature_enrollment/early exact true', from: 'nowhere' }],
      },
      conditions: [
        { outcome: 'no_match', properties: [{ asks: `not in cohort ${id}`, passes: false, cohort }] },
        { outcome: 'match', properties: [{ asks: `in cohort ${id}`, passes: true, cohort }] },
      ],
    });
    expect(await explain({ '$feature_enrollment/early': 'false' })).toMatchObject({
      value: false,
      early_access: {
        outcome: 'no_match',
        properties: [{ passes: false, value: 'false', from: 'request' }],
      },
    });
  });

  test('may name more cohorts together than one filter may', async () => {
    const definition = (plan: string) => ({
      properties: { type: 'AND', values: [{ key: 'plan', value: plan, type: 'person' }] },
    });
    await db().query(
      `insert into cohorts (project_id, name, filters)
       select $1::integer, 'cohort ' || n, $2::jsonb from generate_series(1, 150) as n`,
      [api.project.id, JSON.stringify(definition('pro'))],
    );
    await db().query(
      `insert into feature_flags (project_id, key, name, active, keeps_value, filters)
       select project_id, 'flag-' || id, '', true, false,
         jsonb_build_object('groups', jsonb_build_array(jsonb_build_object('properties',
           jsonb_build_array(jsonb_build_object('key', 'id', 'type', 'cohort', 'value', id)))))
       from cohorts where project_id = $1::integer`,
      [api.project.id],
    );
    await db().query(
      `insert into feature_flags (project_id, key, name, active, keeps_value, filters)
       values ($1::integer, 'unreadable', '', true, false, '{"groups": [{"rollout_percentage": 400}]}')`,
      [api.project.id],
    );
    const asked = { api_key: api.project.projectKey, distinct_id: 'ada', person_properties: { plan: 'pro' } };
    const decided = (await (await api.post('/decide?v=3', asked)).json()) as {
      featureFlags: Record<string, boolean>;
      errorComputingFlags: boolean;
    };
    expect(Object.values(decided.featureFlags)).toEqual(Array.from({ length: 150 }, () => true));
    expect(decided.errorComputingFlags).toBe(true);
    const local = await api.app.request(
      `/api/feature_flag/local_evaluation/?token=${api.project.projectKey}&send_cohorts`,
      { headers: { authorization: `Bearer ${api.personalKey}` } },
    );
    expect(Object.keys(((await local.json()) as { cohorts: object }).cohorts)).toHaveLength(150);
  });

  test('of a seed are made and changed, and others are left alone', async () => {
    await create({ key: 'mine' });
    const flag = {
      key: 'seeded',
      name: '',
      active: true,
      ensure_experience_continuity: false,
      filters: { groups: [{}] },
    };
    await declareFlags(db(), api.project.id, [flag]);
    await declareFlags(db(), api.project.id, [flag]);
    expect(await api.read('feature_flags/')).toMatchObject({
      count: 2,
      results: [{ key: 'seeded', version: 1 }, { key: 'mine' }],
    });
    await declareFlags(db(), api.project.id, [{ ...flag, active: false }]);
    expect(await api.read('feature_flags/')).toMatchObject({ results: [{ version: 2, active: false }, {}] });
    await api.call('POST', 'cohorts/', {
      name: 'Pro',
      filters: { properties: { type: 'AND', values: [{ key: 'plan', value: 'pro', type: 'person' }] } },
    });
    const ofCohort = (value: string) => ({
      ...flag,
      filters: { groups: [{ properties: [{ key: 'id', type: 'cohort' as const, value }] }] },
    });
    await declareFlags(db(), api.project.id, [ofCohort('Pro')]);
    await declareFlags(db(), api.project.id, [ofCohort('Pro')]);
    expect(await api.read('feature_flags/')).toMatchObject({ results: [{ version: 3, active: true }, {}] });
    await expect(declareFlags(db(), api.project.id, [ofCohort('None')])).rejects.toThrow(
      'There is no cohort "None"',
    );
    const wrong = { ...flag, filters: { groups: [{ variant: 'x' }] } };
    await expect(declareFlags(db(), api.project.id, [wrong])).rejects.toThrow(
      'BACKHAUL_SEED: flag "seeded": A condition names the variant "x"',
    );
  });
});
