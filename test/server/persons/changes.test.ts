import { beforeAll, expect, test } from 'vitest';
import type { Paged } from '../../../src/server/http/paging.ts';
import type { PersonBody } from '../../../src/server/persons/schema.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

const NOW = '2024-06-15T12:00:00.000Z';

interface EventBody {
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  readonly properties: object;
}

onEveryDatabase('changes to persons', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
  });

  let people = 0;
  /** A new person with these properties, who also goes by the other ids. */
  async function create($set: object, ...otherIds: string[]): Promise<{ id: string; person: PersonBody }> {
    people += 1;
    const id = `person-${people}`;
    const at = (minute: number) => `2020-01-01T00:0${minute}:00Z`;
    await api.send(
      { event: 'first', timestamp: at(1), properties: { distinct_id: id, $set } },
      ...otherIds.flatMap((other, index) => [
        { event: 'first', timestamp: at(2 + index), properties: { distinct_id: other } },
        { event: '$identify', timestamp: at(9), properties: { distinct_id: id, $anon_distinct_id: other } },
      ]),
    );
    return { id, person: await personOf(id) };
  }

  async function personOf(distinctId: string): Promise<PersonBody> {
    const { results } = await api.read<Paged<PersonBody>>(`persons/?distinct_id=${distinctId}`);
    if (results[0] === undefined) throw new Error(`nobody is ${distinctId}`);
    return results[0];
  }

  const eventsOf = async (id: string, name: string) =>
    (await api.read<{ results: EventBody[] }>(`events/?distinct_id=${id}&event=${name}`)).results;
  const own = ({ properties }: PersonBody) => {
    const { $creator_event_uuid: _, ...rest } = properties;
    return rest;
  };
  /** Status and body of a call on a person. */
  async function call(method: string, path: string, body?: unknown) {
    const response = await api.call(method, path, body);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  test('PATCH merges the properties into the person, by a $set event', async () => {
    const { id, person } = await create({ kept: 1, replaced: { a: 1, b: 2 } });
    const set = { replaced: { c: 3 }, added: [1, null], big: 'BIG' };
    const text = JSON.stringify({ ...person, name: 'ignored', properties: set });
    const response = await api.call(
      'PATCH',
      `persons/${person.id}/`,
      text.replace('"BIG"', '1234567890123456789'),
    );
    expect(response.status).toBe(200);
    const answer = await response.text();
    expect(answer).toContain('"big":1234567890123456789');
    const changed = JSON.parse(answer) as PersonBody;
    expect(Object.keys(changed)).toEqual(['id', 'name', 'distinct_ids', 'properties', 'created_at', 'uuid']);
    expect(changed).toEqual(await api.read(`persons/${person.id}/`));
    expect(own(changed)).toMatchObject({ kept: 1, replaced: { c: 3 }, added: [1, null] });
    expect(changed.created_at).toBe(person.created_at);

    const [event, ...more] = await eventsOf(id, '$set');
    expect(more).toEqual([]);
    expect(event).toMatchObject({ event: '$set', distinct_id: id, timestamp: NOW });
    expect(Object.keys(event?.properties ?? {})).toEqual(['$set']);
    expect(await (await api.get(`events/?distinct_id=${id}&event=$set`)).text()).toContain(
      '"big":1234567890123456789',
    );
  });

  test('a person is also named by uuid, and the event goes to the first of their ids', async () => {
    const { id, person } = await create({}, 'aa-bb-cc-dd-ee');
    const { status } = await call('PATCH', `persons/${person.uuid}`, { properties: { a: 1 } });
    expect(status).toBe(200);
    expect(person.distinct_ids).toEqual([id, 'aa-bb-cc-dd-ee']);
    expect(await eventsOf(id, '$set')).toHaveLength(1);
  });

  test.each([
    [{}, 'required', 'This field is required.'],
    [{ properties: null }, 'null', 'This field may not be null.'],
    [{ properties: [1] }, 'invalid_input', expect.any(String)],
    [{ properties: 'a' }, 'invalid_input', expect.any(String)],
  ])('PATCH with %j is refused', async (body, code, detail) => {
    const { person } = await create({});
    const refused = await call('PATCH', `persons/${person.id}/`, body);
    expect(refused).toEqual({
      status: 400,
      body: { type: 'validation_error', code, detail, attr: 'properties' },
    });
  });

  test('PATCH without any property does nothing, and answers with the person', async () => {
    const { id, person } = await create({ a: 1 });
    const answer = await call('PATCH', `persons/${person.id}/`, { properties: {} });
    expect(answer).toEqual({ status: 200, body: person });
    expect(await eventsOf(id, '$set')).toEqual([]);
    expect(await activityOf(person.id)).toEqual([]);
  });

  test('PATCH refuses what no event could carry, and changes nothing', async () => {
    const { id, person } = await create({ a: 1 });
    const refused = await call('PATCH', `persons/${person.id}/`, {
      properties: { a: 2, long: 'x'.repeat(1_100_000) },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_payload' } });
    expect(await eventsOf(id, '$set')).toEqual([]);
    expect(await personOf(id)).toEqual(person);
    expect(await activityOf(person.id)).toEqual([]);
  });

  test('PATCH refuses what would outgrow the person, and stores no event of it', async () => {
    const { id, person } = await create({ half: 'x'.repeat(300_000) });
    const more = { properties: { more: 'y'.repeat(300_000) } };
    const refused = await call('PATCH', `persons/${person.id}/`, more);
    expect(refused).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/524288 characters/) },
    });
    expect(await eventsOf(id, '$set')).toEqual([]);
    expect(await personOf(id)).toEqual(person);
    expect((await call('PATCH', `persons/${person.id}/`, { properties: { half: 1 } })).status).toBe(200);
    expect((await call('PATCH', `persons/${person.id}/`, more)).status).toBe(200);
  });

  test('update_property takes key and value from the body', async () => {
    const { id, person } = await create({ a: 1, b: 1 });
    const { status, body } = await call('POST', `persons/${person.id}/update_property/?key=no&value=no`, {
      key: 'a',
      value: { deep: ['5'] },
      properties: { ignored: true },
    });
    expect(status).toBe(200);
    expect(body).toEqual({ ...(await personOf(id)), success: true });
    expect(own(await personOf(id))).toEqual({ a: { deep: ['5'] }, b: 1 });
    expect(await eventsOf(id, '$set')).toMatchObject([{ properties: { $set: { a: { deep: ['5'] } } } }]);
  });

  test.each([
    ['text', 'text'],
    ['', ''],
    ['5', 5],
    ['"5"', '5'],
    ['005', '005'],
    ['1.5', 1.5],
    ['true', true],
    ['NaN', 'NaN'],
    ['{"a":[1]}', { a: [1] }],
    ['[broken', '[broken'],
  ])('update_property reads the value %s of the query as %j', async (text, value) => {
    const { person } = await create({});
    const query = new URLSearchParams({ key: 'k', value: text }).toString();
    const { status, body } = await call('POST', `persons/${person.id}/update_property/?${query}`);
    expect({ status, properties: body['properties'] }).toMatchObject({
      status: 200,
      properties: { k: value },
    });
  });

  test('update_property keeps the digits of a number in the query', async () => {
    const { person } = await create({});
    const path = `persons/${person.id}/update_property/?key=k&value=1234567890123456789`;
    expect(await (await api.call('POST', path)).text()).toContain('"k":1234567890123456789');
  });

  test.each([
    ['', { value: 1 }, 'required', 'key'],
    ['', { key: '', value: 1 }, 'blank', 'key'],
    ['', { key: 'a' }, 'required', 'value'],
    ['', { key: 'a', value: null }, 'null', 'value'],
    ['?key=a&value=null', undefined, 'null', 'value'],
    ['?value=1', undefined, 'required', 'key'],
    [`?key=a&value=${'['.repeat(150)}${']'.repeat(150)}`, undefined, 'parse_error', null],
  ])('update_property%s with %j is refused: %s', async (query, body, code, attr) => {
    const { person } = await create({});
    const refused = await call('POST', `persons/${person.id}/update_property/${query}`, body);
    expect(refused).toMatchObject({ status: 400, body: { code, attr } });
  });

  test('delete_property removes a property, by an event with $unset', async () => {
    const { id, person } = await create({ a: 1, b: 2, c: 3 });
    const first = await call('POST', `persons/${person.id}/delete_property/`, { $unset: 'a' });
    expect(first).toMatchObject({ status: 200, body: { success: true, uuid: person.uuid } });
    const second = await call('POST', `persons/${person.id}/delete_property/?$unset=b`);
    expect(second.status).toBe(200);
    expect(own(await personOf(id))).toEqual({ c: 3 });
    const events = await eventsOf(id, '$delete_person_property');
    expect(events.map(({ timestamp }) => timestamp)).toEqual([NOW, NOW]);
    expect(events.map(({ properties }) => properties)).toEqual(
      expect.arrayContaining([{ $unset: ['a'] }, { $unset: ['b'] }]),
    );
  });

  test('delete_property of one that the person does not have stays out of the log', async () => {
    const { id, person } = await create({ a: null });
    const answer = await call('POST', `persons/${person.id}/delete_property/`, { $unset: 'toString' });
    expect(answer).toEqual({ status: 200, body: { ...person, success: true } });
    expect(await eventsOf(id, '$delete_person_property')).toHaveLength(1);
    expect(await activityOf(person.id)).toEqual([]);
    await call('POST', `persons/${person.id}/delete_property/`, { $unset: 'a' });
    expect(await activityOf(person.id)).toMatchObject([{ activity: 'delete_property' }]);
  });

  test.each([undefined, {}, { $unset: '' }, { $unset: null }, { $unset: ['a'] }])(
    'delete_property with %j is refused',
    async (body) => {
      const { person } = await create({});
      const refused = await call('POST', `persons/${person.id}/delete_property/`, body);
      expect(refused).toMatchObject({ status: 400, body: { attr: '$unset' } });
    },
  );

  test('split keeps the main id and the properties, and events follow their ids', async () => {
    const { id, person } = await create({ a: 1 }, 's-anon-1', 's-anon-2');
    const { status, body } = await call('POST', `persons/${person.id}/split/`, {
      main_distinct_id: 's-anon-1',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, uuid: person.uuid, distinct_ids: ['s-anon-1'] });
    expect(own(await personOf('s-anon-1'))).toEqual({ a: 1 });
    const split = [await personOf(id), await personOf('s-anon-2')];
    expect(split.map(({ distinct_ids, properties }) => ({ distinct_ids, properties }))).toEqual([
      { distinct_ids: [id], properties: {} },
      { distinct_ids: ['s-anon-2'], properties: {} },
    ]);
    // Each begins with the first event of its id.
    expect(split.map(({ created_at }) => created_at)).toEqual([
      '2020-01-01T00:01:00.000Z',
      '2020-01-01T00:03:00.000Z',
    ]);
    const uuids = new Set([...split.map(({ uuid }) => uuid), person.uuid]);
    expect(uuids.size).toBe(3);
    const namesOf = async (uuid: string | undefined) =>
      (await api.read<{ results: EventBody[] }>(`events/?person_id=${uuid}`)).results.map(
        ({ event }) => event,
      );
    expect(await namesOf(split[1]?.uuid)).toEqual(['first']);
    expect(await namesOf(split[0]?.uuid)).toEqual(['$identify', '$identify', 'first']);

    await api.send({ event: 'later', properties: { distinct_id: 's-anon-2', $set: { mine: 1 } } });
    expect(own(await personOf('s-anon-2'))).toEqual({ mine: 1 });
    expect(own(await personOf(id))).toEqual({});
  });

  test('split without a main id keeps the first one and clears the properties', async () => {
    const { id, person } = await create({ a: 1 }, 'ee-dd-cc-bb-aa');
    const { status } = await call('POST', `persons/${person.id}/split/`);
    expect(status).toBe(200);
    expect(await personOf(id)).toEqual({ ...person, distinct_ids: [id], properties: {} });
    expect((await personOf('ee-dd-cc-bb-aa')).uuid).not.toBe(person.uuid);
  });

  test('split of a person with a single id changes nothing', async () => {
    const { id, person } = await create({ a: 1 });
    for (const body of [undefined, {}, { main_distinct_id: '' }, { main_distinct_id: id }]) {
      const answer = await call('POST', `persons/${person.id}/split/`, body);
      expect(answer).toEqual({ status: 200, body: { ...person, success: true } });
    }
    expect(await personOf(id)).toEqual(person);
    expect(await activityOf(person.id)).toEqual([]);
  });

  test('split refuses an id that the person does not have', async () => {
    const { person } = await create({}, 'u-1');
    await create({}, 'u-2');
    const refused = await call('POST', `persons/${person.id}/split/`, { main_distinct_id: 'u-2' });
    expect(refused).toMatchObject({ status: 400, body: { attr: 'main_distinct_id' } });
    expect((await personOf('u-1')).uuid).toBe(person.uuid);
  });

  test('DELETE removes person, ids and memberships at once, and leaves the events', async () => {
    const { id, person } = await create({ a: 1 }, 'd-anon');
    await db().query(
      `with cohort as (insert into cohorts (project_id, name, is_static) values ($1, 'c', true) returning id)
       insert into cohort_members (cohort_id, person_id) select id, $2 from cohort`,
      [api.project.id, person.id],
    );
    const response = await api.call('DELETE', `persons/${person.id}/?format=csv`);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect((await api.get(`persons/${person.id}/`)).status).toBe(404);
    expect((await api.call('DELETE', `persons/${person.id}/`)).status).toBe(404);
    const count = async (table: string, column: string) =>
      (await db().query(`select from ${table} where ${column} = $1`, [person.id])).length;
    expect(await count('person_distinct_ids', 'person_id')).toBe(0);
    expect(await count('cohort_members', 'person_id')).toBe(0);
    expect(await eventsOf(id, 'first')).toHaveLength(1);
    expect(await deletionsOf(person.uuid)).toEqual([]);

    await api.send({ event: 'again', properties: { distinct_id: id } });
    const reborn = await personOf(id);
    expect(reborn.uuid).not.toBe(person.uuid);
    expect(own(reborn)).toEqual({});
  });

  const deletionsOf = (uuid: string) =>
    db().query('select person_uuid, distinct_ids, created_by from deletions where person_uuid = $1', [uuid]);

  test.each(['true', '1', 'True'])('DELETE with delete_events=%s queues the events', async (text) => {
    const { id, person } = await create({}, `q-anon-${text}`);
    expect((await api.call('DELETE', `persons/${person.uuid}/?delete_events=${text}`)).status).toBe(204);
    expect(await deletionsOf(person.uuid)).toEqual([
      { person_uuid: person.uuid, distinct_ids: [id, `q-anon-${text}`], created_by: expect.any(Number) },
    ]);
  });

  test('DELETE with delete_events=false queues nothing, and with anything else is refused', async () => {
    const { person } = await create({});
    for (const text of ['maybe', '']) {
      const refused = await call('DELETE', `persons/${person.id}/?delete_events=${text}`);
      expect(refused).toMatchObject({ status: 400, body: { attr: 'delete_events' } });
    }
    expect((await api.call('DELETE', `persons/${person.id}/?delete_events=false`)).status).toBe(204);
    expect(await deletionsOf(person.uuid)).toEqual([]);
  });

  test('events sent while a person is deleted make one new person at most, and lose nothing', async () => {
    const { id, person } = await create({});
    const sends = Array.from({ length: 8 }, (_, index) =>
      api.send({ event: 'racing', properties: { distinct_id: id, $set: { [`k${index}`]: 1 } } }),
    );
    const [deleted] = await Promise.all([api.call('DELETE', `persons/${person.id}/`), ...sends]);
    expect(deleted.status).toBe(204);
    expect(await eventsOf(id, 'racing')).toHaveLength(8);
    const { results } = await api.read<Paged<PersonBody>>(`persons/?distinct_id=${id}`);
    expect(results.length).toBeLessThanOrEqual(1);
    for (const { uuid } of results) expect(uuid).not.toBe(person.uuid);
  });

  test('a person without a distinct id cannot be reached by events, which is said', async () => {
    const [row] = await db().query<{ id: number }>(
      `insert into persons (project_id, uuid, properties, is_identified, created_at)
       values ($1, gen_random_uuid(), '{}', false, now()) returning id`,
      [api.project.id],
    );
    for (const [method, path, body] of [
      ['PATCH', '', { properties: { a: 1 } }],
      ['POST', 'update_property/', { key: 'a', value: 1 }],
      ['POST', 'delete_property/', { $unset: 'a' }],
      ['POST', 'split/', {}],
    ] as const) {
      const refused = await call(method, `persons/${row?.id}/${path}`, body);
      expect(refused).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/no distinct id/) },
      });
    }
    expect((await api.call('DELETE', `persons/${row?.id}/`)).status).toBe(204);
  });

  test.each([
    ['PATCH', '', { properties: {} }],
    ['DELETE', '', undefined],
    ['POST', 'update_property/', { key: 'a', value: 1 }],
    ['POST', 'delete_property/', { $unset: 'a' }],
    ['POST', 'split/', {}],
  ])(
    '%s %s knows nobody of another project, nobody who is gone, and no distinct ids',
    async (method, path, body) => {
      const { person } = await create({});
      const other = await createTestApi(db());
      expect((await other.call(method, `persons/${person.id}/${path}`, body)).status).toBe(404);
      expect((await other.call(method, `persons/${person.uuid}/${path}`, body)).status).toBe(404);
      for (const input of [body, {}]) {
        expect((await api.call(method, `persons/2147483647/${path}`, input)).status).toBe(404);
      }
      const wrong = await call(method, `persons/someone/${path}`, body);
      expect(wrong).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/personID/) } });
      expect((await personOf(person.distinct_ids[0] ?? '')).uuid).toBe(person.uuid);
    },
  );

  test('POST is no way to make a person, and says which is', async () => {
    const response = await api.call('POST', 'persons/', { properties: {} });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET');
    expect(await response.json()).toEqual({
      type: 'invalid_request',
      code: 'method_not_allowed',
      detail: expect.stringMatching(/Method "POST" not allowed\..*\$identify/),
      attr: null,
    });
  });

  const activityOf = async (id: number) =>
    (await api.read<Paged<Record<string, unknown>>>(`persons/${id}/activity/`)).results;

  test('every change stands in the log of the person, newest first', async () => {
    const { id, person } = await create({}, 'log-anon');
    await call('PATCH', `persons/${person.id}/`, { properties: { a: 1 } });
    await call('POST', `persons/${person.id}/update_property/`, { key: 'a', value: 1 });
    await call('POST', `persons/${person.id}/delete_property/`, { $unset: 'a' });
    await call('POST', `persons/${person.id}/split/`, {});
    const changed = { type: 'Person', action: 'changed', field: 'properties', before: null, after: null };
    const row = (activity: string, changes: unknown) => ({
      user: { first_name: 'Owner', email: 'owner@backhaul.invalid', is_system: false },
      activity,
      scope: 'Person',
      item_id: String(person.id),
      detail: { changes, merge: null, trigger: null, name: person.uuid, short_id: null, type: null },
      created_at: expect.stringMatching(/Z$/),
    });
    const split = { ...changed, action: 'split', field: null, after: { distinct_ids: [id, 'log-anon'] } };
    expect(await activityOf(person.id)).toEqual([
      row('split_person', [split]),
      row('delete_property', [{ ...changed, field: null }]),
      row('updated', [changed]),
      row('updated', [changed]),
    ]);

    await api.call('DELETE', `persons/${person.id}/`);
    expect((await api.get(`persons/${person.id}/activity/`)).status).toBe(404);
    const all = await api.read<Paged<unknown>>('persons/activity/?limit=1');
    expect(all.results).toEqual([row('deleted', null)]);
  });

  test('the log comes in numbered pages, and tells the system from people', async () => {
    const logged = await createTestApi(db());
    for (let index = 0; index < 12; index++) {
      await db().query(
        `insert into activity_log (project_id, user_id, scope, item_id, activity, detail)
         values ($1, null, 'Person', $2, 'updated', '{}'), ($1, null, 'Dashboard', $2, 'updated', '{}')`,
        [logged.project.id, String(index)],
      );
    }
    const base = `http://localhost/api/projects/${logged.project.id}/persons/activity/`;
    const first = await logged.read<Paged<Record<string, unknown>>>('persons/activity/');
    expect(first).toMatchObject({ count: 12, total_count: 12, next: `${base}?page=2`, previous: null });
    expect(first.results).toHaveLength(10);
    expect(first.results[0]).toEqual({
      user: { first_name: 'System', email: null, is_system: true },
      activity: 'updated',
      scope: 'Person',
      item_id: '11',
      detail: {},
      created_at: expect.any(String),
    });
    const second = await logged.read<Paged<Record<string, unknown>>>('persons/activity/?page=2&limit=5&x=1');
    expect(second.results.map((row) => row['item_id'])).toEqual(['6', '5', '4', '3', '2']);
    expect(second).toMatchObject({
      next: `${base}?limit=5&x=1&page=3`,
      previous: `${base}?limit=5&x=1&page=1`,
    });
    const last = await logged.read<Paged<unknown>>('persons/activity/?page=3&limit=5');
    expect(last).toMatchObject({ next: null, results: [{}, {}] });
    const unread = await logged.read<Paged<unknown>>('persons/activity/?page=zero&limit=-1');
    expect(unread.results).toHaveLength(10);
    expect((await logged.get('persons/activity/?limit=1000')).status).toBe(200);
    expect((await logged.get('persons/activity/?limit=1001')).status).toBe(400);
    expect((await logged.get('persons/activity/?page=9007199254740991')).status).toBe(400);
  });
});
