import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { IncomingEvent } from '../../../src/server/capture/incoming-event.ts';
import { dropRepeats, dropRows } from '../../../src/server/capture/same-row.ts';
import type { Db } from '../../../src/server/database/db.ts';
import { MIGRATIONS, migrate } from '../../../src/server/database/migrate.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onBothDatabases } from '../../support/databases.ts';

const UUID = '0192f5a0-0000-4000-8000-000000000001';

const event = (over: Partial<IncomingEvent> = {}): IncomingEvent => ({
  uuid: UUID,
  event: 'e',
  distinctId: 'ada',
  timestamp: '2021-05-01T00:00:00.000Z',
  properties: {},
  propertiesText: Buffer.from('{}'),
  ...over,
});

/** The last moment of the day, the first of the next, and what differs in one other way. */
const LAST = event({ timestamp: '2021-05-01T23:59:59.999Z' });
const OTHERS = [
  event({ timestamp: '2021-05-02T00:00:00.000Z' }),
  event({ timestamp: '2021-04-30T23:59:59.999Z' }),
  event({ event: 'E' }),
  event({ distinctId: 'Ada' }),
  event({ uuid: '0192f5a0-0000-4000-8000-000000000002' }),
];

test('events of a request are one row when uuid, name, distinct_id and UTC day agree', () => {
  const sent = [event(), LAST, ...OTHERS, ...OTHERS, event({ properties: { alias: 1 } })];
  expect(dropRepeats(sent)).toEqual([event(), ...OTHERS]);
});

test('an event is stored when a row of its uuid agrees in the rest', () => {
  const day = Date.UTC(2021, 4, 1) / 86_400_000;
  const row = { uuid: UUID, event: 'e', distinctId: 'ada', day };
  const rows = [{ ...row, day: day - 3 }, row];
  expect(dropRows([event(), LAST, ...OTHERS], rows)).toEqual(OTHERS);
  expect(dropRows([event()], [])).toEqual([event()]);
});

interface Page {
  results: { uuid: string; event: string; distinct_id: string; timestamp: string }[];
  next: string | null;
}

onBothDatabases('rows', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
  });

  const toItem = ({ uuid, event: name, distinctId, timestamp }: IncomingEvent) => ({
    uuid,
    event: name,
    timestamp,
    properties: { distinct_id: distinctId, $set: { [distinctId]: timestamp }, $groups: { kind: name } },
  });

  const read = async (path: string) => (await (await api.get(path)).text()).trimEnd().split('\n');

  describe('with one uuid', () => {
    beforeAll(async () => {
      const all = [event(), ...OTHERS].map(toItem);
      await api.send(...all.slice(0, 3), toItem(LAST));
      await api.send(...all.slice(2), ...all);
      await api.send(...all);
    });

    test('are stored once each, however often they are sent', async () => {
      const lines = await read('events/ids.ndjson');
      const rows = lines.map((line) => JSON.parse(line) as Page['results'][number]);
      expect(rows.map((row) => [row.uuid.at(-1), row.event, row.distinct_id, row.timestamp])).toEqual([
        ['1', 'E', 'ada', '2021-05-01T00:00:00.000Z'],
        ['1', 'e', 'Ada', '2021-05-01T00:00:00.000Z'],
        ['1', 'e', 'ada', '2021-04-30T23:59:59.999Z'],
        ['1', 'e', 'ada', '2021-05-01T00:00:00.000Z'],
        ['1', 'e', 'ada', '2021-05-02T00:00:00.000Z'],
        ['2', 'e', 'ada', '2021-05-01T00:00:00.000Z'],
      ]);
    });

    test('keep their own groups', async () => {
      const page = await api.read<{ results: { event: string; properties: Record<string, unknown> }[] }>(
        'events/?limit=100',
      );
      for (const row of page.results) expect(row.properties).toMatchObject({ $group_0: row.event });
    });

    test('come once each over pages of one', async () => {
      const seen: string[] = [];
      let after = '';
      for (;;) {
        const page = await api.read<Page>(`events/?limit=1${after}`);
        seen.push(
          ...page.results.map((row) => JSON.stringify([row.uuid, row.event, row.distinct_id, row.timestamp])),
        );
        if (page.next === null) break;
        after = `&after=${page.next}`;
      }
      expect(seen).toHaveLength(6);
      expect(new Set(seen).size).toBe(6);
    });

    test('are deleted with the person that they belong to, and no others', async () => {
      const { results } = await api.read<{ results: { id: number }[] }>('persons/?distinct_id=Ada');
      await api.call('DELETE', `persons/${results[0]?.id}/?delete_events=true`);
      // Sent again before the job runs: an event of a new person, and the rest is as it was.
      await api.send(toItem(event({ distinctId: 'Ada' })));
      expect(await read('events/ids.ndjson')).toHaveLength(6);
      const [open] = await db().query('select deleted_events from deletions where project_id = $1', [
        api.project.id,
      ]);
      expect(open).toEqual({ deleted_events: 1 });
    });
  });

  test('of two projects are two, whatever their uuid', async () => {
    const [first, second] = [await createTestApi(db()), await createTestApi(db())];
    const item = toItem(event({ uuid: randomUUID() }));
    await first.send(item);
    await second.send(item, item);
    for (const each of [first, second]) expect(await each.read('event_counts/')).toMatchObject({ total: 1 });
  });

  test('of a database from before the change stay, and take others of their uuid', async () => {
    const rolledBack = new Error('rolled back');
    const work = db().transaction(async (tx) => {
      await tx.query('create schema earlier');
      await tx.query('set local search_path to earlier');
      const within: Db = { ...db(), query: tx.query, transaction: (run) => run(tx) };
      const insert = (name: string) =>
        tx.query(
          `insert into events (project_id, uuid, event, distinct_id, timestamp, properties)
           values (1, $1, $2, 'd', now(), '{}')`,
          [UUID, name],
        );
      await migrate(
        within,
        MIGRATIONS.filter(({ version }) => version < 10),
      );
      await insert('before');
      await migrate(within);
      await insert('after');
      const stored = await tx.query(
        'select event from events where project_id = 1 and uuid = $1 order by 1',
        [UUID],
      );
      expect(stored).toEqual([{ event: 'after' }, { event: 'before' }]);
      throw rolledBack;
    });
    await expect(work).rejects.toBe(rolledBack);
  });
});
