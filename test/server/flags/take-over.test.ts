import { beforeEach, expect, test } from 'vitest';
import type { Takeover } from '../../../src/server/flags/takeover/take-over.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

/** An answer of `GET /api/feature_flag/local_evaluation?send_cohorts`, with ids of the service. */
const EXPORT = {
  flags: [
    {
      id: 902,
      key: 'depends',
      active: true,
      filters: {
        groups: [{ properties: [{ type: 'flag', key: '901', operator: 'flag_evaluates_to', value: true }] }],
      },
    },
    {
      id: 901,
      team_id: 2,
      key: 'base',
      name: 'Base',
      active: true,
      deleted: false,
      ensure_experience_continuity: true,
      filters: {
        groups: [{ properties: [], rollout_percentage: 40, variant: null }],
        payloads: {},
        multivariate: null,
      },
      rollback_conditions: [{}],
      performed_rollback: false,
    },
    {
      id: 903,
      key: 'of-groups',
      filters: {
        aggregation_group_type_index: 3,
        groups: [{ properties: [{ key: 'tier', type: 'group', group_type_index: 3, value: 'gold' }] }],
      },
    },
    { id: 904, key: 'of-unknown-groups', filters: { aggregation_group_type_index: 1, groups: [{}] } },
    {
      id: 905,
      key: 'of-cohort',
      filters: { groups: [{ properties: [{ key: 'id', type: 'cohort', value: 71 }] }] },
    },
    {
      id: 906,
      key: 'of-static',
      filters: { groups: [{ properties: [{ key: 'id', type: 'cohort', value: 72 }] }] },
    },
    {
      id: 907,
      key: 'of-unknown-operator',
      filters: { groups: [{ properties: [{ key: 'v', operator: 'sounds_like', value: '1' }] }] },
    },
    { id: 908, key: 'gone', deleted: true, filters: {} },
    { id: 909, key: 'broken', filters: { groups: [{ rollout_percentage: 400 }] } },
    {
      id: 911,
      key: 'mixed',
      filters: { groups: [{ aggregation_group_type_index: 3, properties: [], rollout_percentage: 10 }] },
    },
    {
      id: 912,
      key: 'repeated',
      filters: {
        aggregation_group_type_index: 3,
        groups: [{ aggregation_group_type_index: 3, properties: [], rollout_percentage: 10 }],
        extra: null,
      },
      new_field: { a: 1 },
    },
    { id: 913, key: 'early', filters: { groups: [{}], early_exit: true } },
    { id: 914, key: 'newer', filters: { groups: [{ only_on_weekdays: true }] } },
    { id: 915, key: 'of-devices', bucketing_identifier: 'device_id', filters: { groups: [{}] } },
    { id: 910, key: 'old', rollout_percentage: 10, filters: { properties: [] } },
  ],
  group_type_mapping: { '3': 'company', '1': 'team' },
  cohorts: {
    '71': { type: 'OR', values: [{ type: 'AND', values: [{ key: 'plan', value: 'pro', type: 'person' }] }] },
    '72': { id: 72, name: 'Hand-picked', is_static: true, filters: {} },
  },
};

onEveryDatabase('taking flags over', (db) => {
  let api: TestApi;
  beforeEach(async () => {
    api = await createTestApi(db());
    await api.send({
      event: '$groupidentify',
      timestamp: '2024-01-01T00:00:00Z',
      properties: {
        distinct_id: 'ada',
        $group_type: 'company',
        $group_key: 'acme',
        $group_set: { tier: 'gold' },
      },
    });
  });

  async function takeOver(given: object, query = ''): Promise<Takeover> {
    const response = await api.call('POST', `feature_flags/take_over/${query}`, given);
    expect(response.status, await response.clone().text()).toBe(200);
    return (await response.json()) as Takeover;
  }

  const expected = {
    created: ['base', 'depends', 'of-groups', 'of-cohort', 'old', 'repeated'],
    changed: [],
    unchanged: [],
    refused: [
      { key: 'of-unknown-groups', why: 'groups of the type "team" are not known here: import them first' },
      {
        key: 'of-static',
        why: 'cohort 72 is not in the export, or cannot be made here (static, or by events)',
      },
      { key: 'of-unknown-operator', why: 'Operator "sounds_like" is not supported.' },
      { key: 'broken', why: expect.stringContaining('groups.0.rollout_percentage') },
      { key: 'mixed', why: expect.stringContaining('about groups of type 0, and the flag about persons') },
      { key: 'early', why: expect.stringContaining('early_exit: It cannot be expressed') },
      { key: 'newer', why: 'groups.0: Unknown field "only_on_weekdays"' },
      {
        key: 'of-devices',
        why: expect.stringContaining('bucketing_identifier: its shares are by device_id'),
      },
    ],
    notes: [
      { key: 'base', note: 'its rollback conditions have no effect' },
      { key: 'repeated', note: 'its field "new_field" has no effect' },
      { key: 'repeated', note: 'its filters.extra is empty, and left out' },
    ],
  };

  test('keeps what can be expressed, and names the rest', async () => {
    const report = await takeOver(EXPORT);
    expect({ ...report, created: [...report.created].sort() }).toEqual({
      ...expected,
      created: [...expected.created].sort(),
    });
    const again = await takeOver(EXPORT);
    expect(again.created).toEqual([]);
    expect([...again.unchanged].sort()).toEqual([...expected.created].sort());

    await api.send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
    });
    const asked = { api_key: api.project.projectKey, distinct_id: 'ada', groups: { company: 'acme' } };
    const decided = await (await api.post('/decide/?v=3', asked)).json();
    expect(decided).toMatchObject({
      featureFlags: { 'of-groups': true, 'of-cohort': true },
      errorsWhileComputingFlags: false,
    });
  });

  test('keeps nothing in a dry run', async () => {
    const report = await takeOver(EXPORT, '?dry_run=true');
    expect([...report.created].sort()).toEqual([...expected.created].sort());
    expect(report.refused).toEqual(expected.refused);
    expect(await api.read('feature_flags/')).toMatchObject({ count: 0 });
    expect(await api.read('cohorts/')).toMatchObject({ count: 0 });
  });

  test('refuses what are no flags', async () => {
    expect((await api.call('POST', 'feature_flags/take_over/', { a: 1 })).status).toBe(400);
  });
});
