import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/server/http/json.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createLab, did, type Lab } from '../lab.ts';

const view = (who: string, time: string, path: string) =>
  did(who, '$pageview', time, { $current_url: `https://a.test${path}` });

onEveryDatabase('paths', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      view('ann', '01-05 10:00', '/'),
      view('ann', '01-05 10:01', '/shop/'),
      view('ann', '01-05 10:02', '/shop'),
      did('ann', 'added', '01-05 10:02'),
      view('ann', '01-05 10:04', '/pay'),
      // exactly half an hour later a new session begins
      view('ann', '01-05 10:34', '/shop'),
      view('ann', '01-05 11:03', '/pay'),
      // bob's visit begins before he is known
      view('visitor', '01-06 10:00', '/'),
      did('bob', '$identify', '01-06 10:01', { $anon_distinct_id: 'visitor' }),
      view('bob', '01-06 10:03', '/shop'),
      did('joe', '$screen', '01-06 10:00', { $screen_name: 'Home' }),
      did('joe', 'added', '01-06 10:01'),
      // a page without an address is no item
      did('joe', '$pageview', '01-06 10:02'),
    );
  });

  const edges = async (filters: JsonObject): Promise<string[]> =>
    (
      await lab.compute('PATHS', { include_event_types: ['$pageview'], date_from: '2024-01-01', ...filters })
    ).map(
      ({ source, target, value, average_conversion_time: ms }) =>
        `${source} → ${target}: ${value} in ${ms / 1000} s`,
    );
  const site = 'https://a.test';

  test('count the sessions that went from one item to the next, and how long that took', async () => {
    expect(await edges({})).toEqual([
      `1_${site} → 2_${site}/shop: 2 in 120 s`,
      `1_${site}/shop → 2_${site}/pay: 1 in 1740 s`,
      `2_${site}/shop → 3_${site}/pay: 1 in 180 s`,
    ]);
  });

  test('are made of pages, screens and other events, as asked', async () => {
    expect(await edges({ include_event_types: ['$screen', 'custom_event'] })).toEqual([
      '1_Home → 2_added: 1 in 60 s',
    ]);
    expect(await edges({ include_event_types: ['$screen'], include_custom_events: ['added'] })).toEqual([
      '1_Home → 2_added: 1 in 60 s',
    ]);
    // all events: bob's identification comes between
    expect(await edges({ include_event_types: [], start_point: '$identify' })).toEqual([
      `1_$identify → 2_${site}/shop: 1 in 120 s`,
    ]);
  });

  test('leave out what is excluded', async () => {
    expect(await edges({ exclude_events: [`${site}/shop`] })).toEqual([
      `1_${site} → 2_${site}/pay: 1 in 240 s`,
    ]);
    expect(await edges({ include_event_types: [], exclude_events: ['$pageview', '$identify'] })).toEqual([
      '1_Home → 2_added: 1 in 60 s',
    ]);
  });

  test('begin at a point, wherever it is first met', async () => {
    expect(await edges({ start_point: `${site}/shop/` })).toEqual([
      `1_${site}/shop → 2_${site}/pay: 2 in 960 s`,
    ]);
  });

  test('lead to a point, with the steps right before it', async () => {
    expect(await edges({ end_point: `${site}/pay` })).toEqual([
      `1_${site} → 2_${site}/shop: 1 in 60 s`,
      `1_${site}/shop → 2_${site}/pay: 1 in 1740 s`,
      `2_${site}/shop → 3_${site}/pay: 1 in 180 s`,
    ]);
    expect(await edges({ end_point: `${site}/pay`, step_limit: 2 })).toEqual([
      `1_${site}/shop → 2_${site}/pay: 2 in 960 s`,
    ]);
  });

  test('have no more steps and edges than asked, and edges of the weight asked', async () => {
    expect(await edges({ step_limit: 2 })).toEqual([
      `1_${site} → 2_${site}/shop: 2 in 120 s`,
      `1_${site}/shop → 2_${site}/pay: 1 in 1740 s`,
    ]);
    expect(await edges({ edge_limit: 1 })).toHaveLength(1);
    expect(await edges({ min_edge_weight: 2 })).toEqual([`1_${site} → 2_${site}/shop: 2 in 120 s`]);
    expect(await edges({ max_edge_weight: 1 })).toHaveLength(2);
  });

  test('take items that match a pattern for one', async () => {
    expect(await edges({ path_groupings: ['/*'] })).toEqual([]);
    expect(await edges({ path_groupings: ['a.test/s*', '/shop', '/p_y', '100%'] })).toEqual([
      `1_${site} → 2_a.test/s*: 2 in 120 s`,
      `1_a.test/s* → 2_${site}/pay: 1 in 1740 s`,
      `2_a.test/s* → 3_${site}/pay: 1 in 180 s`,
    ]);
  });

  test('of a project without events are none', async () => {
    const empty = await createLab(db());
    expect(await empty.compute('PATHS', {})).toEqual([]);
  });
});
