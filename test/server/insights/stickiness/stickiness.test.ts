import { beforeAll, expect, test } from 'vitest';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createLab, did, type Lab } from '../lab.ts';

onEveryDatabase('stickiness', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      did('ann', 'view', '01-07 10:00'),
      did('ann', 'view', '01-07 20:00'),
      did('ann', 'view', '01-09 10:00'),
      did('bob', 'view', '01-08 10:00'),
      did('visitor', 'view', '01-09 10:00'),
      did('bob', '$identify', '01-09 11:00', { $anon_distinct_id: 'visitor' }),
      did('joe', 'view', '01-10 10:00'),
      did('joe', 'paid', '01-10 10:00'),
    );
  });

  const events = [
    { id: 'view', type: 'events', name: 'View' },
    { id: 'paid', type: 'events', order: 1 },
  ];

  test('counts people by the number of days they were active', async () => {
    const shown = await lab.compute('STICKINESS', { events, date_from: '2024-01-07' });
    expect(shown).toMatchObject([
      {
        label: 'View',
        data: [1, 2, 0, 0],
        count: 3,
        days: [1, 2, 3, 4],
        labels: ['1 day', '2 days', '3 days', '4 days'],
      },
      { label: 'paid', data: [1, 0, 0, 0], count: 1 },
    ]);
  });

  test('counts weeks', async () => {
    const shown = await lab.compute('STICKINESS', { events, date_from: '2024-01-01', interval: 'week' });
    expect(shown[0]).toMatchObject({ data: [3, 0], labels: ['1 week', '2 weeks'] });
  });

  test('says when it would be too large', async () => {
    const hours = { interval: 'hour', date_from: '-399d' };
    const views = (count: number) => Array.from({ length: count }, () => ({ id: 'view' }));
    expect((await lab.ask({ insight: 'STICKINESS', events: views(1), ...hours })).kind).toBe('computed');
    expect(await lab.ask({ insight: 'STICKINESS', events: views(11), ...hours })).toMatchObject({
      kind: 'failed',
      reason: 'too_large',
    });
  });

  test('of a project without events is zero', async () => {
    const empty = await createLab(db());
    const shown = await empty.compute('STICKINESS', { events, date_from: '2024-01-09' });
    expect(shown.map(({ data }) => data)).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });
});
