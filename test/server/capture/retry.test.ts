import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gzipped } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type ListeningApi, listenApi } from '../../support/listening-api.ts';

/** A client that got no answer, or a bad one, sends the same request again: nothing twice, nothing lost. */
type Item = Record<string, unknown>;

onEveryDatabase('a retry', (db) => {
  let api: ListeningApi;
  beforeAll(async () => {
    api = await listenApi(db());
  });
  afterAll(() => api.close());

  const bodyOf = (batch: readonly Item[], more: Item = {}) =>
    JSON.stringify({ api_key: api.project.projectKey, historical_migration: true, batch, ...more });

  async function post(body: string | Buffer, path = '/batch/', headers: Record<string, string> = {}) {
    const init = { method: 'POST', body: typeof body === 'string' ? body : new Uint8Array(body), headers };
    return (await fetch(`${api.url}${path}`, init)).status;
  }

  /** Sends again after whatever went wrong, as clients do. */
  async function postUntilAccepted(body: string | Buffer, path?: string, headers?: Record<string, string>) {
    for (let attempt = 1; attempt <= 5; attempt++) {
      const status = await post(body, path, headers).catch(() => 0);
      if (status === 200) return attempt;
    }
    throw new Error('never accepted');
  }

  /** All that is stored of ids that begin like this. */
  async function stored(prefix: string) {
    const project = [api.project.id, prefix] as const;
    const events = await db().query<{ uuid: string; event: string; person_id: string }>(
      `select uuid, event, person_id from events where project_id = $1 and distinct_id like $2 || '%'`,
      project,
    );
    const people = await db().query<{ uuid: string; properties: string; ids: number }>(
      `select p.uuid, p.properties, count(*) as ids from persons p join person_distinct_ids d on d.person_id = p.id
       where d.project_id = $1 and d.distinct_id like $2 || '%' group by p.id order by p.id`,
      project,
    );
    const groups = await db().query<{ properties: string }>(
      `select properties from groups where project_id = $1 and group_key like $2 || '%'`,
      project,
    );
    return { events, people, groups };
  }

  const timestamp = (n: number) => new Date(Date.UTC(2021, 0, 1) + n * 1000).toISOString();

  /** 1,000 events of 100 people, with merges and groups. */
  function thousand(prefix: string, named: boolean): Item[] {
    return Array.from({ length: 1000 }, (_, n) => ({
      ...(named ? { uuid: randomUUID() } : {}),
      event: n % 50 === 0 ? '$identify' : n % 50 === 1 ? '$groupidentify' : 'e',
      timestamp: timestamp(Math.floor(n / 100)), // equal events are among them
      properties: {
        distinct_id: `${prefix}-${n % 100}`,
        ...(n % 50 === 0 ? { $anon_distinct_id: `${prefix}-anonymous-${n}` } : {}),
        ...(n % 50 === 1 ? { $group_type: 'company', $group_key: `${prefix}-${n}`, $group_set: { n } } : {}),
        $set: { last: n },
      },
    }));
  }

  async function expectThousand(prefix: string): Promise<void> {
    const { events, people, groups } = await stored(prefix);
    expect(events).toHaveLength(1000);
    expect(people).toHaveLength(100);
    expect(people.reduce((sum, { ids }) => sum + ids, 0)).toBe(120);
    expect(groups).toHaveLength(20);
    const known = new Set(people.map(({ uuid }) => uuid));
    expect(events.every(({ person_id }) => known.has(person_id))).toBe(true);
    const last = people.map(({ properties }) => (JSON.parse(properties) as { last: number }).last);
    expect(last.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => 900 + n));
  }

  describe.each([
    ['events with uuids', true],
    ['events that have a timestamp only', false],
  ])('of %s', (_name, named) => {
    test('after an answer that was lost stores nothing twice', async () => {
      const id = randomUUID();
      const body = bodyOf(thousand(id, named));
      api.faults.push('lost answer', 'lost answer');
      expect(await postUntilAccepted(body)).toBe(3);
      await expectThousand(id);
    });

    test('after a connection that broke loses nothing', async () => {
      const id = randomUUID();
      api.faults.push('cut', 'error');
      expect(await postUntilAccepted(bodyOf(thousand(id, named)))).toBe(3);
      await expectThousand(id);
    });

    test.each(['persons', 'person_distinct_ids', 'group_types', 'groups', 'events'])(
      'after the database failed in the middle, at %s, finds nothing of the first attempt',
      async (table) => {
        const id = randomUUID();
        const type = `type-${id}`;
        // A project knows five group types, and the suite has used one.
        await db().query(`delete from group_types where project_id = $1 and group_type <> 'company'`, [
          api.project.id,
        ]);
        const batch = thousand(id, named);
        batch.push({
          ...(named ? { uuid: randomUUID() } : {}),
          event: 'last',
          timestamp: timestamp(0),
          properties: { distinct_id: `other-${id}`, $groups: { [type]: 'x' } },
        });
        await db().query(
          `create or replace function fail() returns trigger language plpgsql as
           $$ begin raise exception 'no space left' using errcode = '53100'; end $$`,
        );
        await db().query(
          `create trigger failing after insert on ${table} for each statement execute function fail()`,
        );
        try {
          expect(await post(bodyOf(batch))).toBe(503);
        } finally {
          await db().query(`drop trigger failing on ${table}`);
        }
        expect(await stored(id)).toEqual({ events: [], people: [], groups: [] });
        expect(await post(bodyOf(batch))).toBe(200);
        await expectThousand(id);
        expect((await stored(`other-${id}`)).events).toHaveLength(1);
      },
    );

    test('at the same time as the first attempt stores nothing twice', async () => {
      const id = randomUUID();
      const body = bodyOf(thousand(id, named));
      expect(await Promise.all([post(body), post(body), post(body)])).toEqual([200, 200, 200]);
      await expectThousand(id);
    });

    test('does not change people again who have changed since', async () => {
      const id = randomUUID();
      const set = (plan: string, n: number): Item => ({
        ...(named ? { uuid: randomUUID() } : {}),
        event: '$set',
        timestamp: timestamp(n),
        properties: { distinct_id: id, $set: { plan } },
      });
      const first = bodyOf([set('free', 1)]);
      expect(await post(first)).toBe(200);
      expect(await post(bodyOf([set('pro', 0)]))).toBe(200); // later, though of an earlier day
      expect(await post(first)).toBe(200);
      const { events, people } = await stored(id);
      expect(events).toHaveLength(2);
      expect(JSON.parse(people[0]?.properties ?? '')).toMatchObject({ plan: 'pro' });
    });
  });

  test('is known by what it says, however it is wrapped', async () => {
    const id = randomUUID();
    const item = { event: 'e', timestamp: timestamp(0), properties: { distinct_id: id } };
    const body = bodyOf([item, item]);
    expect(await post(body)).toBe(200);
    expect(await post(gzipped(JSON.parse(body)), '/batch/', { 'content-encoding': 'gzip' })).toBe(200);
    const form = new URLSearchParams({ data: Buffer.from(body).toString('base64') }).toString();
    expect(await post(form, '/e', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(200);
    // Clients name the time of sending in ways that the service does not read, again at each attempt.
    expect(await post(bodyOf([item, item], { sentAt: timestamp(5) }))).toBe(200);
    expect((await stored(id)).events).toHaveLength(2);
  });

  test('cannot be known for one where an event names neither itself nor its time', async () => {
    const id = randomUUID();
    const body = bodyOf([{ event: 'click', properties: { distinct_id: id } }]);
    expect([await post(body), await post(body)]).toEqual([200, 200]);
    expect((await stored(id)).events).toHaveLength(2);
  });

  test('differs from the same events sent at another time', async () => {
    const id = randomUUID();
    const click = { event: 'click', timestamp: timestamp(0), properties: { distinct_id: id } };
    for (const sent_at of [timestamp(1), timestamp(2), timestamp(2)]) {
      expect(await post(bodyOf([click], { sent_at }))).toBe(200);
    }
    expect((await stored(id)).events).toHaveLength(2);
  });
});
