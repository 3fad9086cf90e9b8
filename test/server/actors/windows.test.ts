import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';

/** Worked out by hand: the moments at which somebody is just in, or just out. */
onEveryDatabase('at the edges of windows', (db) => {
  let api: TestApi;
  const go = (id: string) => did(id, 'go', '01-05 10:00');
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(
      // the window is ten minutes
      go('at once'),
      did('at once', 'look', '01-05 10:00'),
      did('at once', 'done', '01-05 10:05'),
      go('between'),
      did('between', 'look', '01-05 10:01'),
      did('between', 'done', '01-05 10:05'),
      go('with the end'),
      did('with the end', 'look', '01-05 10:05'),
      did('with the end', 'done', '01-05 10:05'),
      go('later'),
      did('later', 'done', '01-05 10:05'),
      did('later', 'look', '01-05 10:06'),
      go('lost'),
      did('lost', 'look', '01-05 10:09'),
      go('lost late'),
      did('lost late', 'look', '01-05 10:10'),
      go('just in time'),
      did('just in time', 'done', '01-05 10:10'),
      go('too late'),
      did('too late', 'done', '01-05 10:11'),
    );
  });

  const funnel = {
    events: [{ id: 'go' }, { id: 'done', order: 1 }],
    date_from: '2024-01-05',
    funnel_window_interval: 10,
    funnel_window_interval_unit: 'minute',
  };
  const ask = async (path: string, body: object): Promise<string[]> => {
    const response = await api.call('POST', `persons/${path}/`, { ...funnel, ...body });
    const { results } = (await response.json()) as { results: { people: { name: string }[] }[] };
    return (results[0]?.people ?? []).map(({ name }) => name).sort();
  };

  test('a step counts at the last moment of the window', async () => {
    expect(await ask('funnel', { funnel_step: 2 })).toEqual([
      'at once',
      'between',
      'just in time',
      'later',
      'with the end',
    ]);
    expect(await ask('funnel', { funnel_step: -2 })).toEqual(['lost', 'lost late', 'too late']);
  });

  test('what correlates lies strictly between the first step and the last, or the end of the window', async () => {
    const look = { funnel_correlation_person_entity: { id: 'look' } };
    const path = 'funnel/correlation';
    expect(await ask(path, { ...look, funnel_correlation_person_converted: true })).toEqual(['between']);
    expect(await ask(path, { ...look, funnel_correlation_person_converted: false })).toEqual(['lost']);
    expect(await ask(path, look)).toEqual(['between', 'lost']);
    expect(await ask(path, { funnel_correlation_person_entity: { id: 'done' } })).toEqual([]);
  });

  test('a path ends at its last item, or at the last that is looked at', async () => {
    await api.send(
      did('continues', 'one', '01-06 10:00'),
      did('continues', 'two', '01-06 10:01'),
      did('continues', 'three', '01-06 10:02'),
      did('stops', 'one', '01-06 10:00'),
      did('stops', 'two', '01-06 10:01'),
      // half an hour later is another path
      did('comes back', 'one', '01-06 10:00'),
      did('comes back', 'two', '01-06 10:29'),
      did('comes back', 'three', '01-06 10:59'),
    );
    const paths = { include_event_types: ['custom_event'], date_from: '2024-01-06', date_to: '2024-01-06' };
    const lost = (more: object) => ask('path', { ...paths, ...more });
    expect(await lost({ path_dropoff_key: '2_two' })).toEqual(['comes back', 'stops']);
    expect(await lost({ path_dropoff_key: '2_two', step_limit: 2 })).toEqual([
      'comes back',
      'continues',
      'stops',
    ]);
    expect(await lost({ path_start_key: '2_two' })).toEqual(['continues']);
    expect(await lost({ path_dropoff_key: '1_three' })).toEqual(['comes back']);
    expect(await lost({ path_end_key: '1_three' })).toEqual([]);
  });
});
