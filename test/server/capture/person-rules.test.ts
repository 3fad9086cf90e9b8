import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type Item, storedEvents, storedPerson } from '../../support/stored-rows.ts';

/** What events make of people, each rule from both sides, in the rows. */
onEveryDatabase('people', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
  });
  const eventsOf = (distinctId: string) => storedEvents(db(), api.project.id, distinctId);
  const personOf = (distinctId: string) => storedPerson(db(), api.project.id, distinctId);

  test('top-level $set and $set_once go over those of the properties', async () => {
    const id = randomUUID();
    await api.send({
      event: 'e',
      distinct_id: id,
      $set: { a: 'top', b: 'top' },
      $set_once: { c: 'top' },
      properties: { $set: { a: 'inner', d: 'inner' }, $set_once: { c: 'inner', e: 'inner' } },
    });
    const merged = { a: 'top', b: 'top', d: 'inner' };
    expect((await eventsOf(id))[0]?.properties).toMatchObject({ $set: merged });
    expect((await personOf(id))?.properties).toMatchObject({ ...merged, c: 'top', e: 'inner' });
  });

  test('keep what is small beside what finds no room, sent together or apart', async () => {
    const half = 'x'.repeat(300_000);
    const changes = [{ first: half, plan: 'pro' }, { second: half }, { huge: half + half }, { city: 'Oslo' }];
    for (const isTogether of [true, false]) {
      const id = randomUUID();
      const events = changes.map((set) => ({ event: '$set', distinct_id: id, properties: { $set: set } }));
      for (const request of isTogether ? [events] : events.map((one) => [one])) await api.send(...request);
      const { $creator_event_uuid: _, ...properties } = (await personOf(id))?.properties ?? {};
      expect(properties).toEqual({ first: half, plan: 'pro', city: 'Oslo' });
    }
  });

  test('$unset takes keys away, as a list or as an object, on an event of any name', async () => {
    const id = randomUUID();
    await api.send({ event: 'e', distinct_id: id, $set: { a: 1, b: 2, c: 3, d: 4 } });
    await api.send(
      { event: '$delete_person_property', distinct_id: id, properties: { $unset: ['a', 'missing', 7] } },
      { event: 'whatever', distinct_id: id, properties: { $unset: { b: '' } } },
      { event: 'whatever', distinct_id: id, properties: { $unset: 'c' } },
    );
    const { properties } = (await personOf(id)) ?? { properties: {} };
    expect(properties).toMatchObject({ c: 3, d: 4 });
    expect(properties).not.toHaveProperty('a');
    expect(properties).not.toHaveProperty('b');
  });

  test('$set replaces whole values, in order of arrival and not of time; $set_once never does', async () => {
    const id = randomUUID();
    await api.send({
      event: 'e',
      distinct_id: id,
      timestamp: '2024-01-02',
      $set: { a: { x: 1 } },
      $set_once: { b: 1 },
    });
    await api.send({
      event: 'e',
      distinct_id: id,
      timestamp: '2024-01-01',
      $set: { a: { y: 2 } },
      $set_once: { b: 2 },
    });
    expect(await personOf(id)).toMatchObject({
      properties: { a: { y: 2 }, b: 1 },
      created_at: '2024-01-02T00:00:00.000Z', // older events do not move it
      is_identified: false,
    });
  });

  test('an object that is set again rewrites nothing, whatever the order of its keys', async () => {
    const id = randomUUID();
    const writtenAt = async () => {
      const rows = await db().query(
        `select updated_at from persons p join person_distinct_ids d on d.person_id = p.id
         where d.project_id = $1 and d.distinct_id = $2`,
        [api.project.id, id],
      );
      return rows;
    };
    const set = (home: object) => api.send({ event: '$set', distinct_id: id, $set: { home } });
    await set({ street: 'Elm', no: 1234567890123, door: { b: [1, 2], a: null } });
    const first = await writtenAt();
    expect(first).toHaveLength(1);
    await set({ street: 'Elm', no: 1234567890123, door: { b: [1, 2], a: null } });
    await set({ door: { a: null, b: [1, 2] }, no: 1234567890123, street: 'Elm' });
    expect(await writtenAt()).toEqual(first);
    await set({ street: 'Elm', no: 1234567890123, door: { b: [2, 1], a: null } });
    expect(await writtenAt()).not.toEqual(first);
  });

  test('the first facts of a visit are kept beside the latest', async () => {
    const id = randomUUID();
    const visit = (campaign: string): Item => ({
      event: '$set',
      distinct_id: id,
      properties: { utm_campaign: campaign, $browser: campaign, unrelated: campaign },
    });
    await api.send(visit('first'), visit('second'));
    const { properties } = (await personOf(id)) ?? { properties: {} };
    expect(properties).toMatchObject({
      utm_campaign: 'second',
      $initial_utm_campaign: 'first',
      $browser: 'second',
      $initial_browser: 'first',
    });
    expect(properties).not.toHaveProperty('unrelated');
  });

  test.each(['$exception', '$$heatmap'])('%s makes a person but changes nothing of one', async (event) => {
    const id = randomUUID();
    await api.send({ event, distinct_id: id, properties: { $set: { a: 1 }, $browser: 'b' } });
    expect(await personOf(id)).toMatchObject({ properties: { $creator_event_uuid: expect.any(String) } });
    expect(Object.keys((await personOf(id))?.properties ?? {})).toHaveLength(1);
  });

  test('an event that wants no person makes none, and belongs to one that is there', async () => {
    const [nobody, somebody] = [randomUUID(), randomUUID()];
    const personless = { $process_person_profile: false, $set: { a: 1 } };
    await api.send({ event: 'e', distinct_id: somebody });
    await api.send(
      { event: 'e', distinct_id: nobody, properties: personless },
      { event: 'later', distinct_id: somebody, properties: personless },
      { event: 'true', distinct_id: somebody, properties: { $process_person_profile: 'false' } },
    );
    expect(await personOf(nobody)).toBeUndefined();
    expect(await eventsOf(nobody)).toMatchObject([{ person_id: null }]);
    const person = await personOf(somebody);
    expect(person?.properties).not.toHaveProperty('a');
    expect((await eventsOf(somebody)).map(({ person_id }) => person_id)).toEqual(Array(3).fill(person?.uuid));
  });

  test.each(['$identify', '$create_alias', '$merge_dangerously', '$groupidentify', '$group_identify'])(
    '%s that wants no person is left out',
    async (event) => {
      const id = randomUUID();
      const more = { $anon_distinct_id: 'a', alias: 'a', $group_type: 'company', $group_key: id };
      await api.send({ event, distinct_id: id, properties: { ...more, $process_person_profile: false } });
      expect(await eventsOf(id)).toEqual([]);
      await api.send({
        event,
        distinct_id: id,
        properties: { ...more, $anon_distinct_id: `${id}-a`, alias: `${id}-a` },
      });
      expect(await eventsOf(id)).toHaveLength(1);
    },
  );

  const merges: [string, string, boolean, boolean][] = [
    // event, its property, the other one is identified already, merged
    ['$identify', '$anon_distinct_id', false, true],
    ['$identify', '$anon_distinct_id', true, false],
    ['$create_alias', 'alias', false, true],
    ['$create_alias', 'alias', true, false],
    ['$merge_dangerously', 'alias', false, true],
    ['$merge_dangerously', 'alias', true, true],
    ['$identify', 'alias', false, false],
    ['$create_alias', '$anon_distinct_id', false, false],
    ['e', 'alias', false, false],
  ];
  test.each(merges)(
    '%s with %s, the other identified: %s, merges: %s',
    async (event, property, identified, merged) => {
      const [into, other] = [randomUUID(), randomUUID()];
      await api.send(
        { event: 'e', distinct_id: into, timestamp: '2024-01-02', $set: { who: 'into', mine: 1 } },
        { event: 'e', distinct_id: other, timestamp: '2024-01-01', $set: { who: 'other', theirs: 1 } },
        ...(identified
          ? [{ event: '$identify', distinct_id: other, properties: { $anon_distinct_id: `${other}-a` } }]
          : []),
      );
      await api.send({
        event,
        distinct_id: into,
        properties: { [property]: other, $set: { last: event } },
      });
      const person = await personOf(into);
      expect(await eventsOf(into)).toHaveLength(2);
      expect(person?.properties).toMatchObject({ who: 'into', mine: 1, last: event });
      if (merged) {
        expect(await personOf(other)).toEqual(person);
        expect(person).toMatchObject({
          properties: { theirs: 1 },
          created_at: '2024-01-01T00:00:00.000Z',
          is_identified: true,
        });
      } else {
        expect((await personOf(other))?.uuid).not.toBe(person?.uuid);
        expect(person?.properties).not.toHaveProperty('theirs');
        expect(person?.created_at).toBe('2024-01-02T00:00:00.000Z');
      }
    },
  );

  test('a merge of two who have too much together keeps the survivor whole, and of the other what fits', async () => {
    const [into, other] = [randomUUID(), randomUUID()];
    const half = 'x'.repeat(300_000);
    await api.send(
      { event: 'e', distinct_id: into, $set: { mine: half, plan: 'pro' } },
      { event: 'e', distinct_id: other, $set: { theirs: half, plan: 'free', email: 'ada@example.com' } },
    );
    await api.send({ event: '$identify', distinct_id: into, properties: { $anon_distinct_id: other } });
    const person = await personOf(other);
    expect(person).toEqual(await personOf(into));
    expect(person?.properties).toMatchObject({ mine: half, plan: 'pro', email: 'ada@example.com' });
    expect(person?.properties).not.toHaveProperty('theirs');
  });

  test.each(['anonymous', 'UNDEFINED', '[object Object]', '"null"', "'None'"])(
    'nobody is merged over %s, on either side, and the event is kept',
    async (illegal) => {
      const id = randomUUID();
      await api.send(
        { event: '$identify', distinct_id: id, properties: { $anon_distinct_id: illegal } },
        { event: '$create_alias', distinct_id: illegal, properties: { alias: `${id}-other` } },
      );
      expect(await eventsOf(id)).toHaveLength(1);
      expect((await eventsOf(illegal)).length).toBeGreaterThan(0);
      expect(await personOf(id)).toMatchObject({ is_identified: false });
      expect(await personOf(`${id}-other`)).toBeUndefined();
    },
  );
});
