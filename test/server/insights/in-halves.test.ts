import { expect, test } from 'vitest';
import { createSemaphore } from '../../../src/lib/async/semaphore.ts';
import { runSql, sql } from '../../../src/server/database/sql.ts';
import { createCorrelationFinder } from '../../../src/server/insights/correlation/compute.ts';
import { ACTOR, type EventScope, eventsWhere } from '../../../src/server/insights/events-store.ts';
import { hasWorkers, inHalves } from '../../../src/server/insights/in-halves.ts';
import { createTestApi } from '../../support/api.ts';
import { onBothDatabases } from '../../support/databases.ts';
import { did, NOW } from './lab.ts';

onBothDatabases('questions in two processes', (db) => {
  const people = Array.from({ length: 40 }, (_, index) => `person-${index}`);
  const hostile = `'; $1 \\ "${'{,}'} %s null`;

  async function start() {
    const api = await createTestApi(db(), () => Date.parse(NOW));
    const events = people.flatMap((id, index) => [
      did(id, 'view', '01-05 10:00'),
      did(id, hostile, '01-05 10:01', { [hostile]: hostile, even: index % 2 === 0 }),
      ...(index % 4 === 0 ? [did(id, 'paid', '01-05 10:02')] : []),
    ]);
    await api.send(...events);
    return api;
  }

  test('have the answers of one, whatever the values in them', async () => {
    const api = await start();
    const ask = (eventsForTwo: number) =>
      createCorrelationFinder({
        now: () => Date.parse(NOW),
        runInTurn: createSemaphore(1),
        sizes: { atOnceMs: 60_000, eventsForTwo },
      })(db(), api.project.id, {
        events: [{ id: 'view' }, { id: 'paid', order: 1 }],
        date_from: '2024-01-01',
        funnel_correlation_type: 'event_with_properties',
        funnel_correlation_event_names: [hostile],
        funnel_correlation_event_exclude_property_names: ['distinct_id', hostile.toUpperCase()],
      });
    const [two, one] = [await ask(-1), await ask(Number.MAX_SAFE_INTEGER)];
    expect(two).toEqual(one);
    expect([two.successTotal, two.failureTotal]).toEqual([10, 30]);
    expect(two.found.map(({ name }) => name)).toContain(`${hostile}::even::true`);
    expect(two.found.map(({ name }) => name)).toContain(`${hostile}::${hostile}::${hostile}`);
  });

  test('each read the events of their own half of the actors', async () => {
    const api = await start();
    const isServer = db().kind === 'postgres';
    const steps = inHalves();
    const scope: EventScope = {
      ...{ projectId: api.project.id, now: Date.parse(NOW), guard: sql`true`, place: sql`true` },
      ...{ cohorts: new Map(), actions: new Map() },
      filter: { kind: 'group', operator: 'and', members: [] },
    };
    const span = { from: '2024-01-01T00:00:00Z', until: '2024-02-01T00:00:00Z' };
    const collected = await steps.collect(
      scope,
      (within) => sql`select ${ACTOR} as actor ${eventsWhere(within, span, sql`true`)}`,
    );
    const counted = await steps.derive(
      [collected],
      (of) => sql`select count(distinct actor)::integer as persons, count(*)::integer as events
        from ${of(collected)} as facts`,
      sql`persons integer, events integer`,
    );
    await db().transaction(async (tx) => {
      const parts = await runSql<{ persons: number; events: number }>(
        tx,
        sql`select * from ${counted} as parts`,
      );
      expect(parts).toHaveLength(2);
      for (const { persons } of parts) expect(persons).toBeGreaterThan(0);
      expect(parts.reduce((sum, { persons }) => sum + persons, 0)).toBe(people.length);
      expect(parts.reduce((sum, { events }) => sum + events, 0)).toBe(90);
      const plan = await runSql<Record<string, string>>(tx, sql`explain select * from ${counted} as parts`);
      const lines = plan.flatMap((line) => Object.values(line)).join('\n');
      if (isServer) expect(lines).toContain('Parallel Append');
    });
  });

  test('are for a server that has processes to spare, and for many events', async () => {
    await db().transaction(async (tx) => {
      expect(await hasWorkers(tx, db().kind, -1)).toBe(db().kind === 'postgres');
      expect(await hasWorkers(tx, db().kind)).toBe(false);
      await runSql(tx, sql`select set_config('max_parallel_workers_per_gather', '0', true)`);
      expect(await hasWorkers(tx, db().kind, -1)).toBe(false);
    });
  });
});
