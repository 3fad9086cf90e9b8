import { beforeAll, expect, test } from 'vitest';
import { type Seed, seedSchema } from '../../../config/seed.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { declareCohorts } from '../../../src/server/cohorts/declare-cohorts.ts';
import type { CohortBody } from '../../../src/server/cohorts/schema.ts';
import type { Paged } from '../../../src/server/http/paging.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

const defined = (value: string) => ({
  properties: { values: [{ value, type: 'person', key: 'plan' }], type: 'AND' },
});

onEveryDatabase('a seed', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
    await api.send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
    });
  });
  const declare = (...cohorts: object[]) => {
    const seed: Seed = seedSchema.parse({ cohorts });
    return declareCohorts({ db: db(), now: Date.now }, api.project.id, seed.cohorts);
  };
  const cohorts = async () => (await api.read<Paged<CohortBody>>('cohorts/')).results.reverse();
  const activities = async () => {
    const rows = await db().query<{ activity: string }>(
      `select activity from activity_log where scope = 'Cohort' and project_id = $1 order by id`,
      [api.project.id],
    );
    return rows.map(({ activity }) => activity);
  };

  test('makes its cohorts once, changes those that differ, and leaves others alone', async () => {
    const own = await api.call('POST', 'cohorts/', { name: 'Own', filters: defined('free') });
    expect(own.status).toBe(201);
    const seed = [
      { name: 'Pro', filters: defined('pro') },
      { name: 'Hand-picked', description: 'By hand.', is_static: true },
    ];
    await declare(...seed);
    const [first, pro, picked] = await cohorts();
    expect(first).toMatchObject({ name: 'Own', filters: defined('free') });
    expect(pro).toMatchObject({ name: 'Pro', filters: defined('pro'), count: 1, created_by: null });
    expect(picked).toMatchObject({ name: 'Hand-picked', description: 'By hand.', is_static: true, count: 0 });
    const id = picked?.id ?? 0;
    await api.call('PATCH', `cohorts/${id}/add_persons_to_static_cohort/`, { distinct_ids: ['ada'] });

    await declare(...seed);
    expect(await cohorts()).toHaveLength(3);
    expect(await activities()).toEqual(['created', 'created', 'created']);

    await declare({ ...seed[0], filters: defined('free') }, { ...seed[1], description: 'Still.' });
    expect((await cohorts()).slice(1)).toMatchObject([
      { id: pro?.id, filters: defined('free'), count: 0 },
      { id, description: 'Still.', count: 1 },
    ]);
    expect(await activities()).toEqual(['created', 'created', 'created', 'updated', 'updated']);
  });

  test('is made by several processes at once without doubles', async () => {
    await Promise.all([1, 2, 3].map(() => declare({ name: 'Once', filters: defined('pro') })));
    expect((await cohorts()).filter(({ name }) => name === 'Once')).toHaveLength(1);
  });

  test('with a declaration that cannot be is refused as a whole', async () => {
    const before = await cohorts();
    const bad = declare({ name: 'Fine', filters: defined('pro') }, { name: 'Bad' });
    await expect(bad).rejects.toThrow(ConfigError);
    await expect(bad).rejects.toThrow(/^BACKHAUL_SEED: cohort "Bad": A cohort takes at least one condition/);
    await expect(declare({ name: 'Pro', is_static: true })).rejects.toThrow(
      /cohort "Pro": A static cohort stays static/,
    );
    expect((await cohorts()).map(({ name }) => name)).toEqual(before.map(({ name }) => name));
  });
});
