import { expect, test } from 'vitest';
import { onEveryDatabase } from '../../support/databases.ts';
import { createLab } from '../insights/lab.ts';

/** Flags on events are properties like others: what was shown to whom can be counted. */
onEveryDatabase('attribution of flags', (db) => {
  test('counts events by the variant on them, and exposures once a person', async () => {
    const { api, compute } = await createLab(db());
    const at = '2024-01-10T08:00:00Z';
    const called = (id: string, variant: string) => ({
      event: '$feature_flag_called',
      timestamp: at,
      properties: { distinct_id: id, $feature_flag: 'colour', $feature_flag_response: variant },
    });
    const bought = (id: string, variant: string) => ({
      event: 'bought',
      timestamp: at,
      properties: { distinct_id: id, '$feature/colour': variant },
    });
    await api.send(
      ...['ada', 'ada', 'ada', 'bob'].map((id) => called(id, 'red')),
      called('cyd', 'blue'),
      bought('ada', 'red'),
      bought('ada', 'red'),
      bought('cyd', 'blue'),
      { event: 'bought', timestamp: at, properties: { distinct_id: 'dan' } },
    );
    const byVariant = async (event: object, breakdown: string) => {
      const series = await compute('TRENDS', { events: [event], breakdown, date_from: '-1d' });
      return Object.fromEntries(series.map(({ breakdown_value, count }) => [String(breakdown_value), count]));
    };
    expect(await byVariant({ id: 'bought' }, '$feature/colour')).toMatchObject({ red: 2, blue: 1 });
    expect(await byVariant({ id: '$feature_flag_called', math: 'dau' }, '$feature_flag_response')).toEqual({
      red: 2,
      blue: 1,
    });
  });
});
