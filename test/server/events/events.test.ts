import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/server/database/db.ts';
import { loadEvents } from '../../../src/server/events/store.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

interface EventPage {
  results: {
    uuid: string;
    event: string;
    distinct_id: string;
    timestamp: string;
    properties: Record<string, unknown>;
  }[];
  next: string | null;
}

onEveryDatabase('events', (db) => {
  let api: TestApi;
  const sent = Array.from({ length: 25 }, (_, at) => ({
    uuid: randomUUID(),
    event: at % 5 === 0 ? 'rare' : 'common',
    // Several events share a time, so that pages end within one.
    timestamp: `2020-01-01T00:00:${String(Math.floor(at / 4)).padStart(2, '0')}.500Z`,
    properties: { distinct_id: at < 20 ? 'many' : 'few', at },
  }));
  beforeAll(async () => {
    api = await createTestApi(db());
    await api.send(...sent);
  });

  test('are counted by name', async () => {
    expect(await api.read('event_counts/')).toEqual({
      results: [
        { event: 'common', count: 20 },
        { event: 'rare', count: 5 },
      ],
      total: 25,
    });
  });

  test('are read in steps, so that requests come between them', async () => {
    const project = (await api.read<{ id: number }>('')).id;
    let steps = 0;
    const counting: Db = {
      ...db(),
      transaction: (work, turn) => {
        steps += 1;
        return db().transaction(work, turn);
      },
    };
    const whole = await loadEvents(db(), project, { limit: 25 });
    expect(await loadEvents(counting, project, { limit: 24 }, 7)).toEqual(whole.slice(0, 24));
    expect(steps).toBe(4);
    expect(await loadEvents(db(), project, { limit: 100, event: 'rare' }, 2)).toEqual(
      whole.filter(({ event }) => event === 'rare'),
    );
  });

  test('come newest first, each exactly once over all pages', async () => {
    const seen: EventPage['results'] = [];
    let after = '';
    for (;;) {
      const page: EventPage = await api.read<EventPage>(`events/?limit=7${after}`);
      seen.push(...page.results);
      if (page.next === null) break;
      after = `&after=${encodeURIComponent(page.next)}`;
    }
    const newestFirst = [...sent].sort((a, b) =>
      a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : a.uuid < b.uuid ? 1 : -1,
    );
    expect(seen.map(({ uuid }) => uuid)).toEqual(newestFirst.map(({ uuid }) => uuid));
    expect(seen[0]).toEqual({
      uuid: newestFirst[0]?.uuid,
      event: newestFirst[0]?.event,
      distinct_id: 'few',
      timestamp: '2020-01-01T00:00:06.500Z',
      properties: newestFirst[0]?.properties,
    });
  });

  test('are filtered by id, name and person', async () => {
    const count = async (query: string) => (await api.read<EventPage>(`events/?${query}`)).results.length;
    expect(await count('distinct_id=few')).toBe(5);
    expect(await count('event=rare')).toBe(5);
    expect(await count('event=rare&distinct_id=few')).toBe(1);
    const persons = await api.read<{ results: { uuid: string }[] }>('persons/?distinct_id=few');
    expect(await count(`person_id=${persons.results[0]?.uuid}`)).toBe(5);
    expect(await count(`person_id=${randomUUID()}`)).toBe(0);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['limit=10001', 'limit'],
    ['person_id=x', 'person_id'],
    ['after=x', 'after'],
  ])('refuse %s and name the parameter', async (query, attr) => {
    const response = await api.get(`events/?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'validation_error', attr });
  });

  test('stream their identities in order of uuid, more than one page of them', async () => {
    const streamed = await createTestApi(db());
    const events = Array.from({ length: 5001 }, (_, at) => ({
      uuid: randomUUID(),
      event: 'e',
      timestamp: '2020-01-01T00:00:00.000Z',
      properties: { distinct_id: `"${at}"` },
    }));
    await streamed.send(...events);
    const response = await streamed.get('events/ids.ndjson');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await response.text()).trimEnd().split('\n');
    const expected = events
      .sort((a, b) => (a.uuid < b.uuid ? -1 : 1))
      .map(({ uuid, event, timestamp, properties: { distinct_id } }) =>
        JSON.stringify({ uuid, event, distinct_id, timestamp }),
      );
    expect(lines).toEqual(expected);
  });
});
