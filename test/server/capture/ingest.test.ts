import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import lzString from 'lz-string';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestApi, gzipped, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

interface Events {
  results: {
    uuid: string;
    event: string;
    distinct_id: string;
    timestamp: string;
    properties: Record<string, unknown>;
  }[];
}
interface Persons {
  count: number;
  results: {
    id: number;
    uuid: string;
    distinct_ids: string[];
    properties: Record<string, unknown>;
    created_at: string;
  }[];
}

onEveryDatabase('ingestion', (db) => {
  let api: TestApi;
  let key: string;
  beforeAll(async () => {
    api = await createTestApi(db());
    key = api.project.projectKey;
  });

  const eventsOf = async (id: string) =>
    (await api.read<Events>(`events/?distinct_id=${encodeURIComponent(id)}`)).results;
  const personsOf = async (id: string) =>
    (await api.read<Persons>(`persons/?distinct_id=${encodeURIComponent(id)}`)).results;
  const total = async () => (await api.read<{ total: number }>('event_counts/')).total;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const one = (id: string) => ({ api_key: key, event: 'e', distinct_id: id });

  describe('shapes and encodings', () => {
    const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
    const shapes: [string, (id: string) => Promise<Response>][] = [
      ['one event', (id) => api.post('/capture/', one(id))],
      ['a path without its slash', (id) => api.post('/capture', one(id))],
      ['an array', (id) => api.post('/e/', [one(id)])],
      [
        'a batch',
        (id) =>
          api.post('/batch/', { api_key: key, batch: [{ event: 'e', properties: { distinct_id: id } }] }),
      ],
      [
        'a batch on another path',
        (id) => api.post('/i/v0/e/', { token: key, batch: [{ event: 'e', $distinct_id: id }] }),
      ],
      [
        'a batch whose events carry the key',
        (id) => api.post('/batch', { batch: [{ ...one(id), api_key: key }] }),
      ],
      [
        'a token among the properties',
        (id) => api.post('/track/', { event: 'e', properties: { token: key, distinct_id: id } }),
      ],
      [
        'a form',
        (id) => api.post('/e/', new URLSearchParams({ data: JSON.stringify(one(id)) }).toString(), form),
      ],
      [
        'base64 in a form',
        (id) => api.post('/e/', new URLSearchParams({ data: base64(one(id)) }).toString(), form),
      ],
      [
        'base64 in a form whose plus signs became spaces',
        (id) => api.post('/e/?compression=base64', `data=${base64(one(id))}`, form),
      ],
      [
        'base64 without padding',
        (id) => api.post('/e/', base64(one(id)).replace(/=+$/, ''), { 'content-type': 'text/plain' }),
      ],
      [
        'lz64 in a form',
        (id) =>
          api.post(
            '/e/',
            new URLSearchParams({
              data: lzString.compressToBase64(JSON.stringify(one(id))),
              compression: 'lz64',
            }).toString(),
            form,
          ),
      ],
      [
        'lz64 as the body',
        (id) =>
          api.post('/e/?compression=lz64', lzString.compressToBase64(JSON.stringify(one(id))), {
            'content-type': 'text/plain',
          }),
      ],
      ['gzip by header', (id) => api.post('/batch/', gzipped(one(id)), { 'content-encoding': 'gzip' })],
      [
        'gzip-js by parameter',
        (id) => api.post('/e/?compression=gzip-js', gzipped(one(id)), { 'content-type': 'text/plain' }),
      ],
      ['gzip that only its first bytes tell', (id) => api.post('/e/', gzipped(one(id)))],
      [
        'gzip within base64 within a form',
        (id) =>
          api.post(
            '/e/',
            new URLSearchParams({ data: gzipped(one(id)).toString('base64') }).toString(),
            form,
          ),
      ],
      ['JSON that curl calls a form', (id) => api.post('/capture/', JSON.stringify(one(id)), form)],
      ['a byte order mark', (id) => api.post('/capture/', `\uFEFF${JSON.stringify(one(id))}`)],
      ['a query', async (id) => api.app.request(`/e/?data=${encodeURIComponent(base64(one(id)))}`)],
    ];
    test.each(shapes)('takes %s', async (_name, send) => {
      const id = `shape-${randomUUID()}`;
      const response = await send(id);
      expect(await response.text()).toBe('{"status":1}');
      expect(response.status).toBe(200);
      expect(await eventsOf(id)).toMatchObject([{ event: 'e', distinct_id: id }]);
    });

    test('takes a multipart form', async () => {
      const body = new FormData();
      body.set('data', JSON.stringify(one('multipart')));
      expect((await api.app.request('/e/', { method: 'POST', body })).status).toBe(200);
      expect(await eventsOf('multipart')).toHaveLength(1);
    });

    test('names an event without a name $identify on /engage/ only', async () => {
      const unnamed = { api_key: key, distinct_id: 'engaged', $set: { a: 1 } };
      expect((await api.post('/engage/', unnamed)).status).toBe(200);
      expect(await eventsOf('engaged')).toMatchObject([{ event: '$identify' }]);
      expect((await api.post('/e/', unnamed)).status).toBe(400);
    });

    test('answers browsers of any site', async () => {
      const headers = { origin: 'https://shop.example', 'access-control-request-headers': 'x-a' };
      const response = await api.app.request('/e/', { method: 'OPTIONS', headers });
      expect(response.status).toBe(200);
      expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
      expect(response.headers.get('access-control-allow-headers')).toBe('x-a');
    });

    test.each([
      ['POST', '/e/', 401],
      ['POST', '/decide?v=3', 401],
      ['POST', '/decide/', 401],
      ['GET', '/static/array.js', 404],
      ['PUT', '/batch/', 405],
    ])('lets browsers of any site read errors: %s %s', async (method, path, status) => {
      const headers = { origin: 'https://shop.example' };
      const response = await api.app.request(path, {
        method,
        headers,
        ...(method === 'GET' ? {} : { body: '{}' }),
      });
      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
      expect(response.headers.get('vary')).toContain('Origin');
    });

    test.each(['/api/projects/', '/api/none/', '/queues/none'])('keeps %s closed to them', async (path) => {
      const response = await api.app.request(path, { headers: { origin: 'https://shop.example' } });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  describe('refusals', () => {
    const good = { event: 'e', properties: { distinct_id: 'refused' } };
    const bomb = () => gzipSync(Buffer.alloc(65 * 1024 * 1024, 32));
    const refusals: [string, () => Promise<Response>, number, string, RegExp][] = [
      ['no key', () => api.post('/e/', good), 401, 'missing_api_key', /API key not provided/],
      [
        'an unknown key',
        () => api.post('/e/', { ...good, api_key: 'phc_unknown' }),
        401,
        'invalid_api_key',
        /key invalid/,
      ],
      [
        'a personal key',
        () => api.post('/e/', { ...good, api_key: 'phx_x' }),
        401,
        'personal_api_key',
        /not valid/,
      ],
      [
        'a key that is a number',
        () => api.post('/e/', { ...good, api_key: 7 }),
        401,
        'not_string',
        /not valid/,
      ],
      ['an empty key', () => api.post('/e/', { ...good, api_key: '' }), 401, 'empty', /not valid/],
      [
        'a key of 65 characters',
        () => api.post('/e/', { ...good, api_key: 'k'.repeat(65) }),
        401,
        'too_long',
        /not valid/,
      ],
      [
        'a key beyond ASCII',
        () => api.post('/e/', { ...good, api_key: 'phc_é' }),
        401,
        'not_ascii',
        /not valid/,
      ],
      [
        'two keys',
        () => api.post('/e/', [one('a'), { ...one('b'), api_key: 'phc_other' }]),
        401,
        'invalid_api_key',
        /same/,
      ],
      ['an empty body', () => api.post('/e/', ''), 400, 'no_data', /No data found/],
      ['a form without data', () => api.post('/e/', 'x=1', form), 400, 'no_data', /No data found/],
      ['a request without a body', async () => api.app.request('/e/'), 400, 'no_data', /No data found/],
      ['broken JSON', () => api.post('/e/', '{"event":'), 400, 'invalid_payload', /Invalid JSON/],
      [
        'broken gzip',
        () => api.post('/e/', gzipped(good).subarray(0, 30)),
        400,
        'invalid_payload',
        /decompress/,
      ],
      ['broken lz64', () => api.post('/e/?compression=lz64', '////'), 400, 'invalid_payload', /decompress/],
      [
        'bytes that are not UTF-8',
        () => api.post('/e/', Buffer.from([0x7b, 0xff, 0xfe])),
        400,
        'invalid_payload',
        /UTF-8/,
      ],
      [
        'a broken multipart form',
        () => api.post('/e/', 'x', { 'content-type': 'multipart/form-data; boundary=b' }),
        400,
        'invalid_payload',
        /form/,
      ],
      [
        'a body over 20 MB',
        () => api.post('/e/', Buffer.alloc(20 * 1024 * 1024 + 1, 32)),
        413,
        'request_too_large',
        /too large/,
      ],
      ['a decompression bomb', () => api.post('/e/', bomb()), 413, 'request_too_large', /too large/],
      [
        'a bad sent_at',
        () => api.post('/e/', { api_key: key, batch: [good], sent_at: 'soon' }),
        400,
        'invalid_payload',
        /sent at/,
      ],
      [
        'a batch that is no list',
        () => api.post('/e/', { api_key: key, batch: good }),
        400,
        'invalid_payload',
        /must be an array/,
      ],
    ];
    test.each(refusals)('refuses %s', async (_name, send, status, code, detail) => {
      const response = await send();
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({
        code,
        attr: null,
        detail: expect.stringMatching(detail),
      });
    });

    const badEvents: [string, unknown, RegExp][] = [
      ['without a name', { distinct_id: 'x' }, /event name field "event"/],
      ['with a blank name', { event: '', distinct_id: 'x' }, /"event" should not be blank/],
      ['without an id', { event: 'e' }, /must have the event field "distinct_id"/],
      ['with a null id', { event: 'e', distinct_id: null }, /"distinct_id" should not be blank/],
      ['with a blank id', { event: 'e', distinct_id: ' ' }, /"distinct_id" should not be blank/],
      ['with the id 0', { event: 'e', distinct_id: 0 }, /"distinct_id" should not be blank/],
      ['with a bad uuid', { event: 'e', distinct_id: 'x', uuid: 'nope' }, /"uuid" is not a valid UUID/],
      ['whose properties are a list', { event: 'e', distinct_id: 'x', properties: [] }, /must be an object/],
      ['that is no object', 'e', /must be objects/],
      [
        'beyond 1 MiB',
        { event: 'e', distinct_id: 'x', properties: { a: 'a'.repeat(1024 * 1024) } },
        /larger than/,
      ],
    ];
    test.each(badEvents)(
      'refuses a whole batch for one event %s, and stores nothing',
      async (_name, bad, detail) => {
        const before = await total();
        const response = await api.post('/batch/', { api_key: key, batch: [good, bad, good] });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          code: 'invalid_payload',
          detail: expect.stringMatching(detail),
        });
        expect(await total()).toBe(before);
      },
    );

    test('takes the word of Content-Length for a body that is too large', async () => {
      const headers = { 'content-length': String(20 * 1024 * 1024 + 1) };
      expect((await api.post('/e/', '{}', headers)).status).toBe(413);
    });

    test('answers other methods with 405 in the envelope', async () => {
      const response = await api.app.request('/batch/', { method: 'PUT' });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'OPTIONS', 'POST']);
      expect(await response.json()).toEqual({
        type: 'invalid_request',
        code: 'method_not_allowed',
        detail: 'Method "PUT" not allowed.',
        attr: null,
      });
    });
  });

  describe('events', () => {
    test('keep every digit of ids and numbers on the whole way', async () => {
      const text = `{"api_key":"${key}","batch":[{"event":"e","properties":{"distinct_id":1234567890123456789,"big":-9223372036854775808,"more":0.12345678901234567890,"text":"123.456","zeros":"007"}}]}`;
      expect((await api.post('/batch/', text)).status).toBe(200);
      const answer = await (await api.get('events/?distinct_id=1234567890123456789')).text();
      for (const part of [
        '1234567890123456789',
        '-9223372036854775808',
        '0.12345678901234567890',
        '"123.456"',
        '"007"',
      ]) {
        expect(answer).toContain(part);
      }
      const [row] = await db().query<{ properties: string }>(
        `select properties from events where project_id = $1 and distinct_id = '1234567890123456789'`,
        [api.project.id],
      );
      expect(row?.properties).toContain('"big": -9223372036854775808');
    });

    test('are stored once, in one batch or in several, whatever the case of the uuid', async () => {
      const uuid = randomUUID();
      const event = {
        uuid,
        event: 'first',
        timestamp: '2020-01-01T00:00:00.000Z',
        properties: { distinct_id: 'twice' },
      };
      await api.send(event, { ...event, uuid: uuid.toUpperCase() });
      await api.send({ ...event, properties: { distinct_id: 'twice', $set: { late: true } } });
      expect(await eventsOf('twice')).toMatchObject([
        { uuid, event: 'first', timestamp: '2020-01-01T00:00:00.000Z' },
      ]);
      expect((await personsOf('twice'))[0]?.properties).not.toHaveProperty('late');
    });

    test('cut names and ids at 200 characters, never through a character', async () => {
      const id = 'i'.repeat(199);
      await api.send({ event: 'n'.repeat(201), properties: { distinct_id: `${id}😀` } });
      expect(await eventsOf(id)).toMatchObject([{ event: 'n'.repeat(200), distinct_id: id }]);
    });

    test('take sent_at, the _ parameter and offset for what they are', async () => {
      const now = Date.parse('2024-06-01T12:00:00Z');
      const clocked = await createTestApi(db(), () => now);
      const send = (path: string, extra: object) =>
        clocked.post(path, {
          api_key: clocked.project.projectKey,
          event: 'e',
          distinct_id: 'clock',
          ...extra,
        });
      await send('/e/', { timestamp: '2024-06-01T10:00:00Z', sent_at: '2024-06-01T11:00:00Z' });
      await send(`/e/?_=${Date.parse('2024-06-01T11:30:00Z')}`, { timestamp: '2024-06-01T10:00:00Z' });
      await send(`/e/?_=${Date.parse('2024-06-01T11:45:00Z') / 1000}`, { timestamp: '2024-06-01T10:00:00Z' });
      await send('/e/', { offset: 5000 });
      const ignoring = { $ignore_sent_at: true };
      await send('/e/', {
        timestamp: '2024-06-01T10:00:00Z',
        sent_at: '2024-06-01T11:00:00Z',
        properties: ignoring,
      });
      const { results } = await clocked.read<Events>('events/?distinct_id=clock');
      expect(results.map(({ timestamp }) => timestamp.slice(11, 19))).toEqual([
        '11:59:55',
        '11:00:00',
        '10:30:00',
        '10:15:00',
        '10:00:00',
      ]);
    });

    test('tell the address of the visitor, but not that of an importing machine', async () => {
      const from = { 'x-forwarded-for': '198.51.100.7, 10.0.0.1' };
      await api.post('/e/', one('visitor'), from);
      await api.post('/e/', { ...one('told'), properties: { $ip: '192.0.2.1' } }, from);
      await api.post('/batch/', { api_key: key, historical_migration: true, batch: [one('imported')] }, from);
      const ip = async (id: string) => (await eventsOf(id))[0]?.properties['$ip'];
      expect([await ip('visitor'), await ip('told'), await ip('imported')]).toEqual([
        '198.51.100.7',
        '192.0.2.1',
        undefined,
      ]);
    });

    test('survive SQL in every field', async () => {
      const nasty = `'; drop table events; -- 😀`;
      await api.send({
        event: nasty,
        properties: { distinct_id: nasty, [nasty]: nasty, $set: { [nasty]: nasty } },
      });
      const [event] = await eventsOf(nasty);
      expect(Object.values(event?.properties ?? {})).toContain(nasty);
    });
  });

  describe('people', () => {
    test('are merged when an anonymous visitor signs in, and keep the events of both ids', async () => {
      await api.send(
        {
          event: 'a',
          timestamp: '2020-01-02T00:00:00Z',
          properties: { distinct_id: 'anon-1', $set: { theme: 'dark' } },
        },
        {
          event: 'b',
          timestamp: '2020-01-01T00:00:00Z',
          properties: { distinct_id: 'user-1', $set: { email: 'u1@x' } },
        },
      );
      expect(await personsOf('anon-1')).not.toEqual(await personsOf('user-1'));
      await api.send({
        event: '$identify',
        properties: { distinct_id: 'user-1', $anon_distinct_id: 'anon-1', $set: { seats: 2 } },
      });
      const [person] = await personsOf('anon-1');
      expect(await personsOf('user-1')).toEqual([person]);
      expect(person).toMatchObject({
        distinct_ids: expect.arrayContaining(['user-1', 'anon-1']),
        properties: { theme: 'dark', email: 'u1@x', seats: 2 },
        created_at: '2020-01-01T00:00:00.000Z',
      });
      const { results } = await api.read<Events>(`events/?person_id=${person?.uuid}`);
      expect(results.map(({ event }) => event).sort()).toEqual(['$identify', 'a', 'b']);
    });

    test('take along the ids that no batch names when they are merged', async () => {
      await api.send(
        { event: '$identify', properties: { distinct_id: 'm1', $anon_distinct_id: 'm2' } },
        { event: 'e', properties: { distinct_id: 'm9' } },
      );
      await api.send({ event: '$merge_dangerously', properties: { distinct_id: 'm9', alias: 'm1' } });
      expect((await personsOf('m2'))[0]?.distinct_ids.sort()).toEqual(['m1', 'm2', 'm9']);
    });

    test('stay apart when both are identified', async () => {
      await api.send(
        { event: '$identify', properties: { distinct_id: 'i1', $anon_distinct_id: 'i1-anon' } },
        { event: '$identify', properties: { distinct_id: 'i2', $anon_distinct_id: 'i2-anon' } },
        { event: '$create_alias', properties: { distinct_id: 'i1', alias: 'i2' } },
      );
      expect((await personsOf('i1'))[0]?.uuid).not.toBe((await personsOf('i2'))[0]?.uuid);
    });

    test('keep 19-digit numbers when they are changed by a later batch that has none', async () => {
      const batch = `{"api_key":"${key}","batch":[{"event":"e","properties":{"distinct_id":"digits","$set":{"account":1234567890123456789}}}]}`;
      expect((await api.post('/batch/', batch)).status).toBe(200);
      await api.send({ event: '$set', properties: { distinct_id: 'digits', $set: { plan: 'pro' } } });
      const answer = await (await api.get('persons/?distinct_id=digits')).text();
      expect(answer).toContain('"account":1234567890123456789');
      expect(answer).toContain('"plan":"pro"');
    });

    test('are not made of events that want none; profile events that want none are not stored', async () => {
      const personless = { distinct_id: 'nobody', $process_person_profile: false };
      await api.send({ event: 'e', properties: personless }, { event: '$identify', properties: personless });
      expect(await personsOf('nobody')).toEqual([]);
      expect(await eventsOf('nobody')).toMatchObject([{ event: 'e' }]);
    });
  });

  describe('groups', () => {
    test('gather their properties under both names of the event, and mark events', async () => {
      const describeGroup = (event: string, set: object, timestamp: string) => ({
        event,
        timestamp,
        properties: { distinct_id: 'g', $group_type: 'company', $group_key: 'acme', $group_set: set },
      });
      await api.send(describeGroup('$groupidentify', { seats: 1, plan: 'free' }, '2020-02-01T00:00:00Z'));
      await api.send(describeGroup('$group_identify', { seats: 5 }, '2020-01-01T00:00:00Z'), {
        event: 'e',
        properties: { distinct_id: 'member', $groups: { company: 'acme', team: 'red' } },
      });
      const groups = await db().query(
        'select group_key, properties, created_at from groups where project_id = $1',
        [api.project.id],
      );
      expect(groups).toEqual([
        {
          group_key: 'acme',
          properties: '{"plan": "free", "seats": 5}',
          created_at: '2020-01-01T00:00:00.000Z',
        },
      ]);
      expect((await eventsOf('member'))[0]?.properties).toMatchObject({ $group_0: 'acme', $group_1: 'red' });
    });
  });

  test('batches sent at once over the same people neither deadlock nor lose anything', async () => {
    const uuids = Array.from({ length: 400 }, () => randomUUID());
    const event = (uuid: string, at: number) => ({
      uuid,
      event: at % 10 === 0 ? '$identify' : 'e',
      timestamp: '2021-01-01T00:00:00Z',
      properties: {
        distinct_id: `c${at % 7}`,
        $anon_distinct_id: `c-anon-${at % 11}`,
        $set: { [`k${at}`]: at },
      },
    });
    const events = uuids.map(event);
    // Each event goes out twice, in batches that meet the people in opposite orders.
    const batches = Array.from({ length: 10 }, (_, n) => events.slice(n * 40, n * 40 + 40));
    await Promise.all(
      [...batches, ...batches.map((batch) => [...batch].reverse())].map((batch) => api.send(...batch)),
    );
    const counted = await db().query<{ count: number }>(
      `select count(*) as count from events where project_id = $1 and uuid = any($2::uuid[])`,
      [api.project.id, uuids],
    );
    expect(counted).toEqual([{ count: 400 }]);
    const keys = new Set<string>();
    for (let n = 0; n < 7; n++) {
      for (const person of await personsOf(`c${n}`))
        for (const name of Object.keys(person.properties)) keys.add(name);
    }
    expect([...keys].filter((name) => /^k\d+$/.test(name))).toHaveLength(400);
    const orphans = await db().query(
      'select 1 from persons p where project_id = $1 and not exists (select 1 from person_distinct_ids d where d.person_id = p.id)',
      [api.project.id],
    );
    expect(orphans).toEqual([]);
  });
});
