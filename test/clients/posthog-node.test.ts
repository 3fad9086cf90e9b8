import { randomUUID } from 'node:crypto';
import { PostHog as PostHog4 } from 'posthog-node-4';
import { PostHog as PostHog5 } from 'posthog-node-5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onEveryDatabase } from '../support/databases.ts';
import { type Fault, type ListeningApi, listenApi } from '../support/listening-api.ts';

/**
 * The service's own client, unmodified, against the API on a real port. What it sent is looked up in the
 * database, not asked of the API.
 */
const CLIENTS = [
  ['posthog-node 4', PostHog4],
  ['posthog-node 5', PostHog5],
] as const;

interface EventRow {
  uuid: string;
  event: string;
  distinct_id: string;
  person_id: string | null;
  timestamp: string;
  properties: string;
}

interface PersonRow {
  uuid: string;
  distinct_ids: string[];
  properties: string;
  is_identified: boolean;
}

onEveryDatabase('unmodified clients', (db) => {
  let api: ListeningApi;
  beforeAll(async () => {
    api = await listenApi(db());
  });
  afterAll(() => api.close());

  /** Everything that came in with an id that begins like this. */
  async function eventsOf(prefix: string) {
    const rows = await db().query<EventRow>(
      `select uuid, event, distinct_id, person_id, timestamp, properties from events
       where project_id = $1 and distinct_id like $2 || '%' order by timestamp, uuid`,
      [api.project.id, prefix],
    );
    return rows.map((row) => ({ ...row, properties: JSON.parse(row.properties) as Record<string, unknown> }));
  }

  async function personsOf(prefix: string) {
    const rows = await db().query<PersonRow>(
      `select p.uuid, p.properties, p.is_identified, array_agg(d.distinct_id order by d.distinct_id) as distinct_ids
       from persons p join person_distinct_ids d on d.person_id = p.id
       where p.project_id = $1 group by p.id having bool_or(d.distinct_id like $2 || '%') order by p.id`,
      [api.project.id, prefix],
    );
    return rows.map((row) => ({ ...row, properties: JSON.parse(row.properties) as Record<string, unknown> }));
  }

  describe.each(CLIENTS)('%s', (_name, Client) => {
    const connect = (options: { historicalMigration?: boolean } = {}) =>
      new Client(api.project.projectKey, {
        host: api.url,
        flushInterval: 0,
        fetchRetryCount: 3,
        fetchRetryDelay: 1,
        ...options,
      });

    test('captures events with their properties, groups, times and uuids', async () => {
      const id = `capture-${randomUUID()}`;
      const uuid = randomUUID();
      const timestamp = new Date('2024-03-01T10:00:00.000Z');
      const client = connect();
      client.capture({
        distinctId: id,
        event: 'order placed',
        properties: { total: 12.5, items: ['a', { b: null }], 'naïve 😀': true, $set: { plan: 'pro' } },
        groups: { company: 'acme' },
        timestamp,
        uuid,
      });
      await client.shutdown();
      const [event, ...others] = await eventsOf(id);
      expect(others).toEqual([]);
      expect(event).toMatchObject({
        uuid,
        event: 'order placed',
        distinct_id: id,
        properties: {
          total: 12.5,
          items: ['a', { b: null }],
          'naïve 😀': true,
          $groups: { company: 'acme' },
          $lib: 'posthog-node',
        },
      });
      expect(Object.values(event?.properties ?? {})).toContain('acme'); // $group_<index>
      // The client says when it sent, and the service takes the difference of the clocks out.
      const movedMs = Date.parse(event?.timestamp ?? '') - timestamp.getTime();
      expect(movedMs).toBeGreaterThanOrEqual(0);
      expect(movedMs).toBeLessThan(30_000);
      const [person] = await personsOf(id);
      expect(person).toMatchObject({ uuid: event?.person_id, distinct_ids: [id], is_identified: false });
      expect(person?.properties).toMatchObject({ plan: 'pro' });
    });

    test('identifies people, gives them another id, and describes groups', async () => {
      const id = `people-${randomUUID()}`;
      const client = connect();
      client.capture({ distinctId: `${id}-visitor`, event: 'landed' });
      await client.flush();
      client.identify({
        distinctId: `${id}-user`,
        properties: { email: 'u@x.example', $set_once: { first: 1 } },
      });
      client.identify({
        distinctId: `${id}-user`,
        properties: { $set: { seats: 5 }, $set_once: { first: 2 } },
      });
      client.alias({ distinctId: `${id}-user`, alias: `${id}-visitor` });
      client.groupIdentify({ groupType: 'company', groupKey: id, properties: { name: 'Acme', size: 3 } });
      client.groupIdentify({
        groupType: 'company',
        groupKey: id,
        properties: { size: 4 },
        distinctId: `${id}-user`,
      });
      await client.shutdown();

      const events = await eventsOf(id);
      expect(events.map(({ event }) => event).sort()).toEqual(
        ['$create_alias', '$groupidentify', '$identify', '$identify', 'landed'].sort(),
      );
      const persons = await personsOf(id);
      expect(persons).toMatchObject([
        {
          distinct_ids: [`${id}-user`, `${id}-visitor`],
          is_identified: true,
          properties: { email: 'u@x.example', first: 1, seats: 5 },
        },
      ]);
      const groups = await db().query<{ properties: string }>(
        'select properties from groups where project_id = $1 and group_key = $2',
        [api.project.id, id],
      );
      expect(groups.map(({ properties }) => JSON.parse(properties))).toEqual([{ name: 'Acme', size: 4 }]);
    });

    test('moves history, in several requests, every event once and at its time', async () => {
      const id = `history-${randomUUID()}`;
      const client = connect({ historicalMigration: true });
      const at = (n: number) => new Date(Date.UTC(2019, 0, 1) + n * 3_600_000);
      const uuids = Array.from({ length: 250 }, () => randomUUID());
      uuids.forEach((uuid, n) => {
        client.capture({ distinctId: `${id}-${n % 7}`, event: 'imported', timestamp: at(n), uuid });
      });
      await client.flush();
      await client.shutdown();
      const events = await eventsOf(id);
      expect(events.map(({ uuid }) => uuid)).toEqual(uuids); // in order of time
      for (const [n, { timestamp, properties }] of events.entries()) {
        expect(Math.abs(Date.parse(timestamp) - at(n).getTime())).toBeLessThan(30_000);
        expect(properties).not.toHaveProperty('$ip'); // that of the importing machine
      }
      expect(await personsOf(id)).toHaveLength(7);
    });

    const broken: [string, Fault[]][] = [
      ['answers 500 at first', ['error']],
      ['breaks before the request is read', ['cut']],
      ['breaks after everything is stored', ['lost answer']],
      ['breaks again and again', ['lost answer', 'cut', 'lost answer']],
    ];
    test.each(broken)(
      'stores nothing twice and loses nothing when the connection %s',
      async (_fault, faults) => {
        const id = `retry-${randomUUID()}`;
        const client = connect();
        for (let n = 0; n < 5; n++) {
          client.capture({ distinctId: id, event: `e${n}`, properties: { $set: { last: n } } });
        }
        client.alias({ distinctId: id, alias: `${id}-other` });
        client.groupIdentify({ groupType: 'company', groupKey: id, distinctId: id });
        api.faults.push(...faults);
        await client.shutdown();
        expect(api.faults).toEqual([]);
        const events = await eventsOf(id);
        expect(events.map(({ event }) => event).sort()).toEqual(
          ['$create_alias', '$groupidentify', 'e0', 'e1', 'e2', 'e3', 'e4'].sort(),
        );
        expect(await personsOf(id)).toMatchObject([
          { distinct_ids: [id, `${id}-other`], properties: { last: 4 }, is_identified: true },
        ]);
      },
    );
  });

  test('posthog-node 5 sends smaller requests when one is too large, until everything is in', async () => {
    const id = `large-${randomUUID()}`;
    const client = new PostHog5(api.project.projectKey, { host: api.url, flushAt: 100, flushInterval: 0 });
    for (let n = 0; n < 30; n++) {
      client.capture({ distinctId: id, event: 'large', properties: { text: `${n} `.repeat(300_000) } });
    }
    await client.shutdown();
    expect(api.statuses).toContain(413);
    expect(await eventsOf(id)).toHaveLength(30);
  });
});
