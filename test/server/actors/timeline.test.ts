import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';

onEveryDatabase('the timeline of properties', (db) => {
  let api: TestApi;
  let id: number;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(
      did('ann', 'signed up', '01-01 08:00', { $set: { plan: 'free', city: 'Bern' } }),
      did('ann', 'view', '01-04 08:00'),
      did('ann', 'view', '01-05 08:00'),
      did('ann', 'paid', '01-06 08:00', { $set: { plan: 'pro' } }),
      did('ann', 'view', '01-07 08:00', { $set_once: { plan: 'never', city: 'never' } }),
      did('ann', 'moved', '01-08 08:00', { $set: { city: 'Wien' } }),
      did('ann', 'view', '01-09 08:00', { $unset: ['plan'] }),
      did('bob', 'view', '01-05 08:00', { $set: { plan: 'other' } }),
    );
    const { results } = await api.read<{ results: { id: number }[] }>('persons/?distinct_id=ann');
    id = results[0]?.id ?? 0;
  });

  const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));
  const byPlan = `properties=${json([{ key: 'plan', value: 'pro', type: 'person' }])}`;
  const ask = (query: string) => api.read(`persons/${id}/properties_timeline/?${query}`);

  test('has a point for each time that what matters stayed the same', async () => {
    expect(await ask(`${byPlan}&date_from=2024-01-04&date_to=2024-01-09`)).toEqual({
      points: [
        { timestamp: '2024-01-04T08:00:00.000Z', properties: { plan: 'free' }, relevant_event_count: 2 },
        { timestamp: '2024-01-06T08:00:00.000Z', properties: { plan: 'pro' }, relevant_event_count: 3 },
        { timestamp: '2024-01-09T08:00:00.000Z', properties: { plan: null }, relevant_event_count: 1 },
      ],
      crucial_property_keys: ['plan'],
      effective_date_from: '2024-01-04T00:00:00.000Z',
      effective_date_to: '2024-01-09T23:59:59.999Z',
    });
  });

  test('counts the events of the insight, and follows its breakdown', async () => {
    const views = `events=${json([{ id: 'view' }])}`;
    const byCity = 'breakdown=city&breakdown_type=person';
    expect(await ask(`${views}&${byCity}&date_from=all`)).toMatchObject({
      points: [
        { properties: { city: 'Bern' }, relevant_event_count: 3 },
        { properties: { city: 'Wien' }, relevant_event_count: 1 },
      ],
      crucial_property_keys: ['city'],
    });
    expect(await ask('date_from=2024-01-07')).toMatchObject({
      points: [{ properties: {}, relevant_event_count: 3 }],
      crucial_property_keys: [],
    });
  });

  test('of two equal dates is one interval', async () => {
    const day = await ask(`${byPlan}&date_from=2024-01-06&date_to=2024-01-06`);
    expect(day).toMatchObject({ points: [{ relevant_event_count: 1 }] });
    const at = '2024-01-06T08:00:00';
    expect(await ask(`${byPlan}&interval=hour&date_from=${at}&date_to=${at}`)).toMatchObject({
      points: [{ relevant_event_count: 1 }],
      effective_date_to: '2024-01-06T08:59:59.999Z',
    });
  });

  test('refuses what it cannot read, and is of a person', async () => {
    const refused = await api.get(`persons/${id}/properties_timeline/?date_from=soon`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { attr: 'date_from' }]);
    expect((await api.get('persons/2147483647/properties_timeline/')).status).toBe(404);
    expect((await api.get('persons/ada/properties_timeline/')).status).toBe(400);
  });
});
