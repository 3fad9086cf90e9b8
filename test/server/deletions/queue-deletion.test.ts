import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { queueDeletion } from '../../../src/server/deletions/queue-deletion.ts';
import { createTestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

onEveryDatabase('queueing a deletion', (db) => {
  it('draws a line that the events before are not after, and the events after not before', async () => {
    const api = await createTestApi(db());
    const event = (name: string) => ({ event: name, distinct_id: 'ada', properties: {} });
    for (let round = 0; round < 20; round += 1) {
      await api.send(event(`before ${round}`));
      const personUuid = randomUUID();
      await db().transaction((tx) =>
        queueDeletion(tx, { projectId: api.project.id, personUuid, distinctIds: ['ada'], userId: null }),
      );
      await api.send(event(`after ${round}`));
      const rows = await db().query<{ event: string; goes: boolean }>(
        `select e.event, e.received_at <= d.covers_until as goes
         from events e join deletions d on d.person_uuid = $1 where e.event like $2 order by e.event desc`,
        [personUuid, `% ${round}`],
      );
      expect(rows).toEqual([
        { event: `before ${round}`, goes: true },
        { event: `after ${round}`, goes: false },
      ]);
    }
  });

  it('draws it there also where the clock is set back by an hour behind it', async () => {
    const api = await createTestApi(db());
    const event = (name: string) => ({ event: name, distinct_id: 'bob', properties: {} });
    await api.send(event('before'));
    const deletions: string[] = [];
    const queue = async () => {
      const personUuid = randomUUID();
      deletions.push(personUuid);
      await db().transaction((tx) =>
        queueDeletion(tx, { projectId: api.project.id, personUuid, distinctIds: ['bob'], userId: null }),
      );
    };
    await queue();
    // What it would hold if the clock had been ahead until now.
    await db().query(
      `update deletions set covers_until = covers_until + interval '1 hour' where person_uuid = $1`,
      deletions,
    );
    await api.send(event('between'));
    await queue();
    await api.send(event('behind'));
    const rows = await db().query(
      `select e.event, array_agg(e.received_at <= d.covers_until order by d.id) as goes
       from events e join deletions d on d.person_uuid = any ($1) where e.distinct_id = 'bob'
       group by e.event order by e.event`,
      [`{${deletions.join(',')}}`],
    );
    expect(rows).toEqual([
      { event: 'before', goes: [true, true] },
      { event: 'behind', goes: [false, false] },
      { event: 'between', goes: [false, true] },
    ]);
  });

  it('draws that of a later deletion behind it, where no event came between them', async () => {
    const api = await createTestApi(db());
    const deletions = [randomUUID(), randomUUID()];
    const queue = (personUuid: string) =>
      db().transaction((tx) =>
        queueDeletion(tx, { projectId: api.project.id, personUuid, distinctIds: ['pat'], userId: null }),
      );
    await queue(deletions[0] ?? '');
    // What it would hold if the clock had been ahead until now.
    await db().query(
      `update deletions set covers_until = covers_until + interval '1 hour' where person_uuid = any ($1)`,
      [`{${deletions.join(',')}}`],
    );
    await queue(deletions[1] ?? '');
    await api.send({ event: 'behind', distinct_id: 'pat', properties: {} });
    const rows = await db().query(
      `select array_agg(e.received_at <= d.covers_until order by d.id) as goes from events e
       join deletions d on d.person_uuid = any ($1) where e.distinct_id = 'pat'`,
      [`{${deletions.join(',')}}`],
    );
    expect(rows).toEqual([{ goes: [false, false] }]);
  });

  it('draws it behind events that came in before the clock was set back', async () => {
    const api = await createTestApi(db());
    const event = (name: string) => ({ event: name, distinct_id: 'eve', properties: {} });
    await api.send(event('before'));
    // What they would hold if the clock had been ahead until now.
    await db().query(
      `update events set received_at = received_at + interval '1 hour' where project_id = $1`,
      [api.project.id],
    );
    await db().query(
      `update arrivals set received_until = received_until + interval '1 hour' where project_id = $1`,
      [api.project.id],
    );
    const personUuid = randomUUID();
    await db().transaction((tx) =>
      queueDeletion(tx, { projectId: api.project.id, personUuid, distinctIds: ['eve'], userId: null }),
    );
    await api.send(event('behind'));
    const rows = await db().query(
      `select e.event, e.received_at <= d.covers_until as goes from events e
       join deletions d on d.person_uuid = $1 where e.distinct_id = 'eve' order by e.event`,
      [personUuid],
    );
    expect(rows).toEqual([
      { event: 'before', goes: true },
      { event: 'behind', goes: false },
    ]);
  });

  it('knows until when events of a project have come in, and notes it once a second', async () => {
    const api = await createTestApi(db());
    const event = (name: string) => ({ event: name, distinct_id: 'kim', properties: {} });
    const load = async () => {
      const [row] = await db().query<{ until: string; isLater: boolean }>(
        `select received_until::text as until, received_until >= (
           select max(received_at) from events where project_id = $1) as "isLater"
         from arrivals where project_id = $1`,
        [api.project.id],
      );
      return row;
    };
    await api.send(event('first'));
    const first = await load();
    expect(first?.isLater).toBe(true);
    // As a clock that never reaches it would leave it, and one that has passed it.
    await db().query(`update arrivals set received_until = 'infinity' where project_id = $1`, [
      api.project.id,
    ]);
    await api.send(event('second'));
    expect(await load()).toEqual({ until: 'infinity', isLater: true });
    await db().query(`update arrivals set received_until = '2020-01-01' where project_id = $1`, [
      api.project.id,
    ]);
    await api.send(event('third'));
    expect((await load())?.isLater).toBe(true);
  });

  it('keeps who asked, and every id as it is', async () => {
    const api = await createTestApi(db());
    const [owner] = await db().query<{ id: number }>('select id from users');
    const wanted = { projectId: api.project.id, personUuid: randomUUID(), userId: owner?.id ?? 0 };
    const distinctIds = ['a"b', '{c,d}', 'null', ' ', 'ü'];
    await db().transaction((tx) => queueDeletion(tx, { ...wanted, distinctIds }));
    const rows = await db().query(
      `select project_id, distinct_ids, created_by, started_at, deleted_events, verified_at, last_error
       from deletions where person_uuid = $1`,
      [wanted.personUuid],
    );
    expect(rows).toEqual([
      {
        project_id: wanted.projectId,
        distinct_ids: distinctIds,
        created_by: wanted.userId,
        started_at: null,
        deleted_events: 0,
        verified_at: null,
        last_error: null,
      },
    ]);
  });
});
