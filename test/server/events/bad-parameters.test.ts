import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';

const HUGE = '9'.repeat(400);
const positionOf = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
const UUID = '01890a5d-ac96-774b-bcce-b302099a8057';

const WHOLE = ['x', '', '1.5', '-1', '0', '1e300', HUGE, '[]', 'true', '10001'];
const MONTHS = ['', 'x', '2024', '2024-00', '2024-13', '2024-1', '0000-01', '2024-01-01', '02024-01', HUGE];
const POSITIONS = [
  ...['', 'x', '[]', 'e30', 'bnVsbA', HUGE],
  positionOf('2024-01-01T00:00:00Z', UUID, 'a'),
  positionOf('2024-13-01T00:00:00Z', UUID, 'a', 'ann'),
  positionOf('0000-01-01T00:00:00Z', UUID, 'a', 'ann'),
  positionOf('2024-01-01T00:00:00Z', 'x', 'a', 'ann'),
  positionOf('2024-01-01T00:00:00Z', UUID, 7, 'ann'),
  positionOf('2024-01-01T00:00:00Z', UUID, 'a\0', 'ann'),
];
const NAMES = ['', 'a', '17', '{}', '[1]', '[["a"]]', '["a\\u0000"]', JSON.stringify(Array(101).fill('a'))];

/** What each parameter may not be. Texts that are searched for may be any that can be stored. */
const PAGES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'events/': {
    limit: WHOLE,
    after: POSITIONS,
    person_id: ['', 'x', '17', `${UUID}0`, HUGE],
    event: ['a\0'],
    distinct_id: ['\0'],
  },
  'event_counts/': {},
  'event_counts/months/': { property: ['', 'a\0'], value: ['a\0'] },
  'event_counts/days/': { month: MONTHS, without: NAMES, property: ['', 'a\0'], value: ['a\0'] },
  'persons/values/': { format: ['xml', 'CSV', '7'], key: ['a\0'], value: ['a\0'] },
};
const RIGHT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'event_counts/days/': { month: '2024-01', property: 'k', value: 'v' },
  'event_counts/months/': { property: 'k', value: 'v' },
  'persons/values/': { key: 'k', value: 'v' },
};
const PARAMETERS = Object.entries(PAGES).flatMap(([path, parameters]) =>
  Object.entries(parameters).map(([name, values]) => ({ path, name, values })),
);

onEveryDatabase('pages of events and of values', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(did('ann', 'a', '01-09 08:00', { k: 'v' }));
  });

  const ask = (path: string, query: Readonly<Record<string, string>>) =>
    api.call('GET', `${path}?${new URLSearchParams({ ...RIGHT[path], ...query }).toString()}`);

  test.each(Object.keys(PAGES))('%s answers what is right', async (path) => {
    expect((await ask(path, {})).status).toBe(200);
  });

  test.each(PARAMETERS)('$path refuses a wrong $name by its name', async ({ path, name, values }) => {
    const faults: string[] = [];
    for (const value of values) {
      const response = await ask(path, { [name]: value });
      const text = await response.text();
      const body = (response.status === 400 ? JSON.parse(text) : {}) as { type?: string; attr?: string };
      if (body.type !== 'validation_error' || body.attr !== name) {
        faults.push(`${JSON.stringify(value).slice(0, 60)}: ${response.status} ${text.slice(0, 120)}`);
      }
    }
    expect(faults).toEqual([]);
  });

  test('no text is an error of the server, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PARAMETERS),
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.json({ maxDepth: 2 }),
          fc.constantFrom(...PARAMETERS.flatMap(({ values }) => values)),
        ),
        async ({ path, name }, value) => {
          const response = await ask(path, { [name]: value });
          expect([200, 400], `${value}: ${await response.text()}`).toContain(response.status);
        },
      ),
      { numRuns: 100 },
    );
  });
});
