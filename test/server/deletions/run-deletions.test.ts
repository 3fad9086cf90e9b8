import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { type RunOptions, runDeletions } from '../../../src/server/deletions/run-deletions.ts';
import { deleteBatch, findIdsWithEvents, loadNextOpen } from '../../../src/server/deletions/store.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onBothDatabases, silent } from '../../support/databases.ts';
import { deletePersonWithEvents } from '../../support/deleted-person.ts';

onBothDatabases('running deletions', (db) => {
  let api: TestApi;
  beforeEach(async () => {
    api = await createTestApi(db());
  });

  const event = (distinctId: string, name: string, day = 1) => ({
    event: name,
    timestamp: `2024-01-${String(day).padStart(2, '0')}T00:00:00Z`,
    properties: { distinct_id: distinctId },
  });
  const many = (distinctId: string, count: number, day?: number) =>
    Array.from({ length: count }, (_, n) => event(distinctId, `event ${n}`, day ?? 1 + (n % 28)));
  const merge = (into: string, other: string) => ({
    event: '$identify',
    properties: { distinct_id: into, $anon_distinct_id: other },
  });
  const remove = (distinctId: string) => deletePersonWithEvents(db(), api.project.id, distinctId);
  const run = (options: Partial<RunOptions> = {}) =>
    runDeletions(db(), {
      signal: new AbortController().signal,
      onProgress: () => {},
      log: silent,
      ...options,
    });
  const left = async () => {
    const rows = await db().query<{ event: string }>(
      'select event from events where project_id = $1 order by event',
      [api.project.id],
    );
    return rows.map((row) => row.event);
  };
  const deletion = async (uuid: string) => {
    const [row] = await db().query<{ deleted: number; verified: boolean; started: boolean; error: string }>(
      `select deleted_events as deleted, verified_at >= started_at as verified, started_at is not null as started,
         last_error as error from deletions where person_uuid = $1`,
      [uuid],
    );
    return row;
  };

  it('leaves what was not asked for to another run', async () => {
    await api.send(event('ada', 'a'));
    const uuid = await remove('ada');
    await run({ projectIds: [api.project.id + 1000] });
    expect(await left()).toEqual(['a']);
    await run({ projectIds: [api.project.id] });
    expect(await left()).toEqual([]);
    expect(await deletion(uuid)).toMatchObject({ deleted: 1, verified: true });
  });

  it('deletes what came in before, for this person and in this project only, and verifies it', async () => {
    const other = await createTestApi(db());
    await other.send(event('ada', 'elsewhere'));
    await api.send(event('ada', 'a'), event('ada', 'b'), event('bob', 'c'));
    const uuid = await remove('ada');
    await api.send(event('ada', 'later, dated earlier', 1));
    await run();
    expect(await left()).toEqual(['c', 'later, dated earlier']);
    expect(await deletion(uuid)).toEqual({ deleted: 2, verified: true, started: true, error: null });
    const elsewhere = await db().query('select event from events where project_id = $1', [other.project.id]);
    expect(elsewhere).toEqual([{ event: 'elsewhere' }]);
  });

  it('leaves what comes in once it is verified, also where another run of it is still under way', async () => {
    await api.send(event('ada', 'a'));
    const personUuid = await remove('ada');
    const open = await loadNextOpen(db(), 0, [api.project.id]);
    await run();
    expect(await deletion(personUuid)).toMatchObject({ deleted: 1, verified: true });
    await api.send(event('ada', 'later'));
    if (open === undefined) throw new Error('no deletion was open');
    expect(await findIdsWithEvents(db(), open, ['ada'], 10)).toEqual([]);
    expect(await deleteBatch(db(), open, ['ada'], '-infinity', 10)).toEqual({ count: 0, newest: null });
    expect(await left()).toEqual(['later']);
  });

  it('takes the events of merged ids along, those of the time before the merge too', async () => {
    await api.send(event('laptop', 'on the laptop'), event('ada', 'signed in'));
    await api.send(merge('ada', 'laptop'));
    await remove('ada');
    await run();
    expect(await left()).toEqual([]);
  });

  it('leaves the events of an id that was split off, though they were stored for the person', async () => {
    await api.send(event('ada', 'hers'), merge('ada', 'brother'), event('brother', 'his'));
    await db().query(
      `with person as (
         insert into persons (project_id, uuid, properties, is_identified, created_at)
         values ($1, gen_random_uuid(), '{}', false, now()) returning id
       )
       update person_distinct_ids set person_id = (select id from person)
       where project_id = $1 and distinct_id = 'brother'`,
      [api.project.id],
    );
    await remove('ada');
    await run();
    expect(await left()).toEqual(['his']);
  });

  it('deletes the old events of an id that has come back and been merged into somebody else', async () => {
    await api.send(event('shared', 'before'));
    await remove('shared');
    await api.send(event('shared', 'after'), event('carl', 'his own'));
    await api.send(merge('carl', 'shared'));
    await run();
    expect(await left()).toEqual(['$identify', 'after', 'his own']);
  });

  it('keeps an event that is sent again after its person was deleted: it is a new person’s', async () => {
    const sent = [1, 2, 3].map((n) => ({ ...event('ada', `event ${n}`), uuid: randomUUID() }));
    const [first] = sent;
    if (first === undefined) throw new Error('nothing is sent');
    await api.send(...sent);
    const uuid = await remove('ada');
    await api.send({ ...first, $set: { plan: 'new' } });
    await api.send(first); // a repeat of the new one
    expect(await left()).toEqual(['event 1', 'event 2', 'event 3']);
    await run();
    expect(await left()).toEqual(['event 1']);
    expect(await deletion(uuid)).toMatchObject({ deleted: sent.length, verified: true });
    const people = await api.read<{ results: unknown[] }>('persons/?distinct_id=ada');
    expect(people.results).toMatchObject([{ properties: { plan: 'new' } }]);
  });

  it('counts the events that went because they were sent again', async () => {
    const sent = many('ada', 50).map((each) => ({ ...each, uuid: randomUUID() }));
    await api.send(...sent);
    const uuid = await remove('ada');
    await api.send(...sent);
    expect(await deletion(uuid)).toMatchObject({ deleted: 50, verified: null });
    await api.send(...sent); // repeats of the new ones
    await run();
    expect(await left()).toHaveLength(50);
    expect(await deletion(uuid)).toMatchObject({ deleted: 50, verified: true });
  });

  it('counts an event sent again for the oldest of the deletions that cover it', async () => {
    const named = (name: string) => ({ ...event('ada', name), uuid: randomUUID() });
    const [early, late, kept] = [named('early'), named('late'), named('kept')];
    await api.send(early, named('early, not sent again'));
    const first = await remove('ada');
    await api.send(late);
    const second = await remove('ada');
    await api.send(early, late, kept);
    expect(await deletion(first)).toMatchObject({ deleted: 1 });
    expect(await deletion(second)).toMatchObject({ deleted: 1 });
    await run();
    expect(await left()).toEqual(['early', 'kept', 'late']);
    expect(await deletion(first)).toMatchObject({ deleted: 2, verified: true });
    expect(await deletion(second)).toMatchObject({ deleted: 1, verified: true });
  });

  it('keeps all that is sent again while it runs, and nothing of it twice', async () => {
    const sent = many('ada', 200).map((each) => ({ ...each, uuid: randomUUID() }));
    await api.send(...sent);
    const uuid = await remove('ada');
    const sending = (async () => {
      for (let from = 0; from < sent.length; from += 20) await api.send(...sent.slice(from, from + 20));
    })();
    await Promise.all([run({ batchEvents: 7 }), sending, run({ batchEvents: 11 })]);
    expect((await left()).sort()).toEqual(sent.map((each) => each.event).sort());
    expect(await deletion(uuid)).toMatchObject({ deleted: 200, verified: true });
  });

  it('tells two deletions of the same id apart', async () => {
    await api.send(event('ada', 'first'));
    const first = await remove('ada');
    await api.send(event('ada', 'second'), event('ada', 'second too'));
    const second = await remove('ada');
    await api.send(event('ada', 'third'));
    await run();
    expect(await left()).toEqual(['third']);
    expect(await deletion(first)).toMatchObject({ deleted: 1, verified: true });
    expect(await deletion(second)).toMatchObject({ deleted: 2, verified: true });
  });

  it.each([0, 1, 9, 10, 11, 20, 21])('counts %i events in batches of 10', async (count) => {
    await api.send(event('ada', 'the one that makes her known'));
    if (count > 0) await api.send(...many('ada', count));
    await db().query(`delete from events where event like 'the one%' and project_id = $1`, [api.project.id]);
    const uuid = await remove('ada');
    await run({ batchEvents: 10 });
    expect(await left()).toEqual([]);
    expect(await deletion(uuid)).toMatchObject({ deleted: count, verified: true });
  });

  it('gets through more events of one moment than a batch takes', async () => {
    await api.send(...many('ada', 35, 7));
    await remove('ada');
    await run({ batchEvents: 10 });
    expect(await left()).toEqual([]);
  });

  it('works through a person of more ids than one look asks about', async () => {
    const ids = Array.from({ length: 1001 }, (_, n) => `device ${n}`);
    await api.send(...ids.map((id) => event(id, 'seen')));
    const first = 'device 0';
    await db().query(
      `update person_distinct_ids set person_id =
         (select person_id from person_distinct_ids where project_id = $1 and distinct_id = $2)
       where project_id = $1`,
      [api.project.id, first],
    );
    const uuid = await remove(first);
    await run();
    expect(await left()).toEqual([]);
    expect(await deletion(uuid)).toMatchObject({ deleted: 1001, verified: true });
  });

  it('can be stopped after any batch, and another run continues and counts right', async () => {
    await api.send(...many('ada', 50), ...many('anonymous-ada', 20), merge('ada', 'anonymous-ada'));
    const uuid = await remove('ada');
    let runs = 0;
    for (let over = false; !over && runs < 50; runs += 1) {
      const stop = new AbortController();
      over = await run({
        batchEvents: 10,
        onProgress: () => stop.abort(new Error('stopped')),
        signal: stop.signal,
      }).then(
        () => true,
        () => false,
      );
      if (!over) expect(await deletion(uuid)).toMatchObject({ started: true, verified: null });
    }
    expect(runs).toBeGreaterThan(5);
    expect(await left()).toEqual([]);
    expect(await deletion(uuid)).toEqual({ deleted: 71, verified: true, started: true, error: null });
  });

  it('runs next to another run and to ingestion, and each event is counted once', async () => {
    await api.send(...many('ada', 200));
    await api.send(...many('bob', 200));
    const [ada, bob] = [await remove('ada'), await remove('bob')];
    const sending = (async () => {
      for (let n = 0; n < 10; n += 1) await api.send(event('ada', `new ${n}`), event('bob', `new ${n}`));
    })();
    await Promise.all([run({ batchEvents: 7 }), run({ batchEvents: 11 }), run({ batchEvents: 3 }), sending]);
    expect((await left()).filter((name) => name.startsWith('event'))).toEqual([]);
    expect(await left()).toHaveLength(20);
    expect(await deletion(ada)).toMatchObject({ deleted: 200, verified: true });
    expect(await deletion(bob)).toMatchObject({ deleted: 200, verified: true });
  });

  it('notes a deletion that fails, works off the others, and verifies it once it can', async () => {
    await api.send(event('ada', 'stuck'), event('bob', 'b'));
    const [ada, bob] = [await remove('ada'), await remove('bob')];
    await db().query(`create or replace function refuse() returns trigger language plpgsql as
      $$ begin if old.event = 'stuck' then raise exception 'the disk says no'; end if; return old; end $$`);
    await db().query('create trigger refusal before delete on events for each row execute function refuse()');
    try {
      await expect(run()).rejects.toThrow('the disk says no');
    } finally {
      await db().query('drop trigger refusal on events');
    }
    expect(await deletion(bob)).toMatchObject({ verified: true });
    expect(await deletion(ada)).toEqual({
      deleted: 0,
      verified: null,
      started: true,
      error: 'the disk says no',
    });
    await run();
    expect(await deletion(ada)).toMatchObject({ deleted: 1, verified: true, error: null });
  });

  it('does not call verified what it still finds', async () => {
    await api.send(event('ada', 'sticky'));
    const ada = await remove('ada');
    await db().query(
      `create or replace function keep() returns trigger language plpgsql as $$ begin return null; end $$`,
    );
    await db().query('create trigger keeping before delete on events for each row execute function keep()');
    try {
      await expect(run()).rejects.toThrow('1 of its ids still have events');
    } finally {
      await db().query('drop trigger keeping on events');
    }
    expect(await deletion(ada)).toMatchObject({ verified: null, error: '1 of its ids still have events' });
    await run();
    expect(await deletion(ada)).toMatchObject({ verified: true });
  });
});
