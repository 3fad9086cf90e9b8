import { beforeAll, describe, expect, test } from 'vitest';
import { updateFlag } from '../../../../src/server/flags/store.ts';
import { createTestApi, type TestApi } from '../../../support/api.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { addFlag as addFlagTo } from '../flag-lab.ts';

interface Answer {
  readonly featureFlags: Record<string, boolean | string>;
  readonly featureFlagPayloads: Record<string, string>;
  readonly errorComputingFlags: boolean;
}

onEveryDatabase('POST /decide', (db) => {
  let api: TestApi;

  const addFlag = (key: string, filters: object, more: { readonly keepsValue?: boolean } = {}) =>
    addFlagTo(db(), api.project.id, key, filters, more);

  async function decide(body: object, version = '3'): Promise<Answer> {
    const response = await api.post(`/decide/?v=${version}`, { api_key: api.project.projectKey, ...body });
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  }

  beforeAll(async () => {
    api = await createTestApi(db());
    await api.send(
      {
        event: '$set',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
      },
      {
        event: '$groupidentify',
        timestamp: '2024-01-01T00:00:00Z',
        properties: {
          distinct_id: 'ada',
          $group_type: 'company',
          $group_key: 'acme',
          $group_set: { tier: 'gold' },
        },
      },
    );
    await addFlag('everybody', { groups: [{}], payloads: { true: '{"a":1}' } });
    await addFlag('pro', { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] });
    await addFlag('gold', {
      aggregation_group_type_index: 0,
      groups: [{ properties: [{ key: 'tier', value: 'gold', type: 'group', group_type_index: 0 }] }],
    });
  });

  test('decides by what is stored', async () => {
    expect(await decide({ distinct_id: 'ada', groups: { company: 'acme' } })).toMatchObject({
      featureFlags: { everybody: true, pro: true, gold: true },
      featureFlagPayloads: { everybody: '{"a":1}' },
      errorComputingFlags: false,
      config: { enable_collect_everything: true },
    });
    expect((await decide({ distinct_id: 'bob', groups: { company: 'other' } })).featureFlags).toEqual({
      everybody: true,
      pro: false,
      gold: false,
    });
  });

  test('decides by what the request gives', async () => {
    const given = {
      person_properties: { plan: 'pro' },
      groups: { company: 'new' },
      group_properties: { company: { tier: 'gold' } },
    };
    expect((await decide({ distinct_id: 'bob', ...given })).featureFlags).toEqual({
      everybody: true,
      pro: true,
      gold: true,
    });
  });

  test('shows a change in the next decision', async () => {
    const id = await addFlag('changing', { groups: [{}] });
    expect((await decide({ distinct_id: 'bob' })).featureFlags).toHaveProperty('changing', true);
    await updateFlag(db(), id, { filters: { groups: [{ rollout_percentage: 0 }] } });
    expect((await decide({ distinct_id: 'bob' })).featureFlags).toHaveProperty('changing', false);
    await updateFlag(db(), id, { active: false });
    expect((await decide({ distinct_id: 'bob' })).featureFlags).not.toHaveProperty('changing');
    await api.send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'cyd', $set: { plan: 'pro' } },
    });
    expect((await decide({ distinct_id: 'cyd' })).featureFlags).toHaveProperty('pro', true);
  });

  test('keeps the value of somebody who was identified', async () => {
    await addFlag('kept', { groups: [{ rollout_percentage: 50 }] }, { keepsValue: true });
    const ids = Array.from({ length: 40 }, (_, n) => `visitor ${n}`);
    const before = await Promise.all(
      ids.map(async (id) => (await decide({ distinct_id: id })).featureFlags['kept']),
    );
    await api.send(
      ...ids.map((id) => ({
        event: '$identify',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: `${id} known`, $anon_distinct_id: id },
      })),
    );
    const after = await Promise.all(
      ids.map(
        async (id) =>
          (await decide({ distinct_id: `${id} known`, $anon_distinct_id: id })).featureFlags['kept'],
      ),
    );
    const later = await Promise.all(
      ids.map(async (id) => (await decide({ distinct_id: `${id} known` })).featureFlags['kept']),
    );
    expect(after).toEqual(before);
    expect(later).toEqual(before);
  });

  test('writes nothing for somebody of whom nothing can be stored', async () => {
    await addFlag('lasting', { groups: [{ rollout_percentage: 50 }] }, { keepsValue: true });
    const countChanges = db().watch(['flag_hash_keys']) ?? (() => 0);
    const before = countChanges();
    await decide({ distinct_id: 'nobody', $anon_distinct_id: 'nobody before' });
    expect(countChanges()).toBe(before);
    await api.send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'somebody before', $set: { plan: 'pro' } },
    });
    const asked = { distinct_id: 'somebody new', $anon_distinct_id: 'somebody before' };
    await decide(asked);
    const [{ stored } = { stored: 0 }] = await db().query<{ stored: number }>(
      `select count(*)::integer as stored from flag_hash_keys where flag_key = 'lasting' and hash_key = $1`,
      ['somebody before'],
    );
    expect(stored).toBe(1);
    const written = countChanges();
    await decide(asked);
    expect(countChanges()).toBe(written);
  });

  test('answers each version in its shape', async () => {
    expect(await decide({ distinct_id: 'ada' }, '1')).toMatchObject({
      featureFlags: expect.arrayContaining(['everybody', 'pro']),
    });
    expect((await decide({ distinct_id: 'ada' }, '2')).featureFlags).not.toHaveProperty('gold');
    expect(await decide({ distinct_id: 'ada' }, '4')).toMatchObject({
      flags: {
        pro: {
          key: 'pro',
          enabled: true,
          variant: null,
          reason: { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
        },
      },
    });
  });

  describe('refuses', () => {
    test('a key that no project has', async () => {
      const response = await api.post(
        '/decide/?v=3',
        { api_key: 'phc_none', distinct_id: 'ada' },
        { origin: 'https://shop.example' },
      );
      expect(response.status).toBe(401);
      expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    });

    test('a request about nobody', async () => {
      const response = await api.post('/decide/?v=3', { api_key: api.project.projectKey });
      expect(response.status).toBe(400);
    });

    test.each([
      ['person_properties', (names: object) => ({ person_properties: names })],
      ['group_properties', (names: object) => ({ group_properties: { company: names } })],
      ['groups', (names: object) => ({ groups: names })],
    ])('more names than clients send in %s', async (field, toBody) => {
      const names = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`name ${n}`, 1]));
      const post = (count: number) =>
        api.post('/decide/?v=3', {
          api_key: api.project.projectKey,
          distinct_id: 'ada',
          ...toBody(names(count)),
        });
      const most = field === 'groups' ? 20 : 9990;
      expect((await post(most)).status).toBe(200);
      const refused = await post(most + (field === 'groups' ? 1 : 10));
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ code: 'invalid_input', attr: field });
    });
  });
});
