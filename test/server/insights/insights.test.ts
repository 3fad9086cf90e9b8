import { beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../../src/server/database/db.ts';
import {
  createInsightResults,
  type InsightResult,
  RESULT_FRESH_MS,
} from '../../../src/server/insights/results.ts';
import {
  copyInsight,
  loadInsights,
  markDeleted,
  type NewInsight,
  saveInsight,
} from '../../../src/server/insights/store.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { asAnotherCaller, onBothDatabases } from '../../support/databases.ts';
import { until } from '../../support/until.ts';
import { createLab, did, NOW, storedInsight } from './lab.ts';

const views = { events: [{ id: 'view', type: 'events', order: 0 }], date_from: '2024-01-10' };

onBothDatabases('insights', (db) => {
  let api: TestApi;
  let userId: number;
  const results = createInsightResults({ now: () => Date.parse(NOW) });
  beforeAll(async () => {
    api = await createTestApi(db());
    const [user] = await db().query<{ id: number }>('select id from users limit 1');
    userId = user?.id ?? 0;
  });
  const create = (wanted: NewInsight, user: number | null = userId) =>
    db().transaction(async (tx) => (await saveInsight(tx, api.project.id, user, wanted)).id);
  const load = (...ids: number[]) => loadInsights(db(), api.project.id, ids);

  describe('in store', () => {
    test('are kept as they were given, digits included', async () => {
      const filters = {
        insight: 'TRENDS',
        events: [],
        odd: [null, { deep: 'ä' }],
        big: '12345678901234567890',
      };
      const id = await create({
        name: 'Views',
        derivedName: 'view count',
        description: 'All of them',
        filters,
        query: { kind: 'InsightVizNode', source: {} },
        tags: ['one', 'two, three'],
        isSample: true,
        saved: true,
      });
      const [stored] = await load(id);
      expect(stored).toEqual({
        id,
        projectId: api.project.id,
        shortId: expect.stringMatching(/^[0-9A-Za-z]{8}$/),
        name: 'Views',
        derivedName: 'view count',
        description: 'All of them',
        filters,
        query: { kind: 'InsightVizNode', source: {} },
        tags: ['one', 'two, three'],
        saved: true,
        favorited: false,
        deleted: false,
        isSample: true,
        timeZone: 'UTC',
        createdAt: expect.stringMatching(/^20\d\d-.*Z$/),
        createdBy: userId,
        updatedAt: stored?.createdAt,
        lastModifiedAt: stored?.createdAt,
        lastModifiedBy: userId,
      });
    });

    test('need a name and filters only, and no user', async () => {
      const id = await create({ name: null, filters: {} }, null);
      expect(await load(id)).toMatchObject([
        {
          name: null,
          derivedName: null,
          description: null,
          query: null,
          tags: [],
          createdBy: null,
          saved: false,
        },
      ]);
    });

    test('are loaded in order of id, those of the project alone', async () => {
      const first = await create({ name: 'first', filters: {} });
      const second = await create({ name: 'second', filters: {} });
      expect((await load(second, first, 2 ** 31 - 1)).map(({ name }) => name)).toEqual(['first', 'second']);
      const other = await createTestApi(db());
      expect(await loadInsights(db(), other.project.id, [first])).toEqual([]);
      expect(await load()).toEqual([]);
    });

    test('are copied under a name that says so, with an address of their own', async () => {
      const id = await create({
        name: 'Views',
        filters: { a: 1 },
        tags: ['x'],
        query: { b: 2 },
        saved: true,
      });
      const copyId = await copyInsight(db(), api.project.id, id, null);
      const [original, copy] = await load(id, copyId ?? 0);
      expect(copy).toMatchObject({
        name: 'Views (Copy)',
        filters: { a: 1 },
        tags: ['x'],
        query: { b: 2 },
        saved: true,
        createdBy: null,
      });
      expect(copy?.shortId).not.toBe(original?.shortId);
      const nameless = await create({ name: '', filters: {} });
      const copyOfNameless = await copyInsight(db(), api.project.id, nameless, userId);
      expect(await load(copyOfNameless ?? 0)).toMatchObject([{ name: null, createdBy: userId }]);
      const long = await create({ name: 'x'.repeat(400), filters: {} });
      const copyOfLong = await copyInsight(db(), api.project.id, long, null);
      expect((await load(copyOfLong ?? 0))[0]?.name).toHaveLength(400);
    });

    test('of another project are neither copied nor deleted', async () => {
      const id = await create({ name: 'mine', filters: {} });
      const other = await createTestApi(db());
      expect(await copyInsight(db(), other.project.id, id, null)).toBeUndefined();
      await markDeleted(db(), other.project.id, [id], true);
      expect(await load(id)).toMatchObject([{ deleted: false }]);
    });

    test('are deleted and brought back', async () => {
      const [one, two] = [
        await create({ name: 'one', filters: {} }),
        await create({ name: 'two', filters: {} }),
      ];
      await markDeleted(db(), api.project.id, [one, two], true);
      await markDeleted(db(), api.project.id, [two], false);
      expect((await load(one, two)).map(({ deleted }) => deleted)).toEqual([true, false]);
    });
  });

  describe('that are computed', () => {
    test('are kept for a while, tell when they were computed, and can be had again', async () => {
      let now = Date.parse(NOW);
      const clocked = createInsightResults({ now: () => now, newerWaitMs: 60_000 });
      const lab = await createLab(db());
      const count = async (refresh = false) => {
        const result = await clocked.compute(db(), lab.api.project.id, storedInsight(views), { refresh });
        if (result.kind === 'failed') throw new Error(result.message);
        const [series] = result.data.insight === 'TRENDS' ? result.data.result : [];
        return { count: series?.count, at: result.computedAt, isCached: result.isCached };
      };
      expect(await count()).toEqual({ count: 0, at: '2024-01-10T12:00:00.000Z', isCached: false });
      await lab.api.send(did('ann', 'view', '01-10 10:00'));
      now += RESULT_FRESH_MS - 1;
      expect(await count()).toEqual({ count: 0, at: '2024-01-10T12:00:00.000Z', isCached: true });
      expect(await count(true)).toEqual({ count: 1, at: '2024-01-10T12:00:14.999Z', isCached: false });
      await lab.api.send(did('bob', 'view', '01-10 10:00'));
      now += RESULT_FRESH_MS;
      expect(await count()).toEqual({ count: 2, at: '2024-01-10T12:00:29.999Z', isCached: false });
    });

    test('are computed once for all, whoever continues waiting, and shown while they are renewed', async () => {
      let now = Date.parse(NOW);
      const lab = await createLab(db());
      let open = () => {};
      let begun = 0;
      let gate = Promise.resolve();
      const close = () => {
        gate = new Promise((resolve) => {
          open = resolve;
        });
      };
      const slow: Db = {
        ...db(),
        async transaction(run, use) {
          begun += 1;
          await gate;
          return db().transaction(run, use);
        },
      };
      const clocked = createInsightResults({ now: () => now, waitMs: 1, newerWaitMs: 1 });
      const ask = (options = {}) => clocked.compute(slow, lab.api.project.id, storedInsight(views), options);
      const count = (result: InsightResult) =>
        result.kind === 'computed' && result.data.insight === 'TRENDS'
          ? result.data.result[0]?.count
          : result;

      close();
      expect(await ask({ budget: { startsLeft: 0 } })).toMatchObject({ kind: 'failed', reason: 'pending' });
      expect(begun).toBe(0);
      const asked = await Promise.all([ask(), ask(), ask({ budget: { startsLeft: 0 } })]);
      for (const result of asked) expect(result).toMatchObject({ kind: 'failed', reason: 'pending' });
      expect(begun).toBe(1);
      open();
      expect(count(await until('the result', async () => done(await ask())))).toBe(0);
      const taken = begun;

      await lab.api.send(did('ann', 'view', '01-10 10:00'));
      now += RESULT_FRESH_MS;
      close();
      const older = await ask();
      expect([count(older), older.kind === 'computed' && older.computedAt]).toEqual([0, NOW]);
      open();
      const renewed = await until('the newer result', async () => {
        const result = await ask();
        return count(result) === 1 ? result : undefined;
      });
      expect(renewed).toMatchObject({ computedAt: new Date(now).toISOString() });
      expect(begun).toBe(2 * taken);
    });

    test('are told apart by project, filters and dashboard', async () => {
      const ask = async (projectId: number, filters: object, dashboardFilters: object) => {
        const options = { dashboardFilters: { ...dashboardFilters } };
        return results.compute(db(), projectId, storedInsight({ ...filters }), options);
      };
      const other = await createTestApi(db());
      const asked = [
        await ask(api.project.id, views, {}),
        await ask(api.project.id, views, { date_from: '-1d' }),
        await ask(api.project.id, { ...views, interval: 'week' }, {}),
        await ask(other.project.id, views, {}),
        await ask(api.project.id, { insight: 'none' }, {}),
      ];
      expect(new Set(asked.map(({ filtersHash }) => filtersHash)).size).toBe(5);
      expect(asked[0]?.filtersHash).toMatch(/^[0-9a-f]{32}$/);
      expect(await ask(api.project.id, views, {})).toMatchObject({ isCached: true });
    });

    test('fail with a reason, which is a result like any other', async () => {
      const ask = (filters: object, dashboardFilters: object = {}) =>
        results.compute(db(), api.project.id, storedInsight({ ...views, ...filters }), {
          dashboardFilters: { ...dashboardFilters },
        });
      expect(await ask({ data_warehouse: [{ id: 'x' }] })).toMatchObject({
        kind: 'failed',
        reason: 'unsupported',
        message: expect.stringContaining('data warehouse'),
      });
      expect(await ask({ actions: [{ id: 424_242 }] })).toMatchObject({
        kind: 'failed',
        reason: 'invalid',
        message: expect.stringContaining('There is no action 424242 in this project.'),
      });
      expect(await ask({ date_from: 'yesterday' })).toMatchObject({
        kind: 'failed',
        reason: 'invalid',
        message: expect.stringContaining('"yesterday" is no date'),
      });
      expect(await ask({}, { date_to: 'soon' })).toMatchObject({ kind: 'failed', reason: 'invalid' });
      const nested = { key: 'x', value: '(', operator: 'unheard of' };
      expect(await ask({ properties: [nested] })).toMatchObject({ kind: 'failed', reason: 'invalid' });
    });

    const everyKind = [
      { insight: 'TRENDS', ...views },
      { insight: 'LIFECYCLE', ...views },
      { insight: 'STICKINESS', ...views },
      { insight: 'FUNNELS', events: [{ id: 'view' }, { id: 'x' }], date_from: '2024-01-10' },
      { insight: 'RETENTION', target_entity: { id: 'view' } },
      { insight: 'PATHS', date_from: '2024-01-10' },
    ];

    test.each(everyKind)('end with a reason when they take too long: $insight', async (filters) => {
      const isServer = db().kind === 'postgres';
      const timeLimitMs = isServer ? 50 : 0;
      const hasty = createInsightResults({ now: () => Date.parse(NOW), timeLimitMs });
      const lab = await createLab(db());
      await lab.api.send(did('ann', 'view', '01-10 10:00'));
      const compute = () => hasty.compute(db(), lab.api.project.id, storedInsight(filters));
      // On a server its clock ends the statement, which waits here; elsewhere the first row that is looked at does.
      const result = isServer
        ? await db().transaction(async (tx) => {
            await tx.query('lock table events');
            return asAnotherCaller(compute);
          })
        : await compute();
      expect(result).toMatchObject({ kind: 'failed', reason: 'too_slow' });
      expect(await db().query('select 1 as one')).toEqual([{ one: 1 }]);
    });

    test('are ended by the server, where it has a clock', async () => {
      const hasty = createInsightResults({ now: () => Date.parse(NOW), timeLimitMs: 1 });
      const steps = Array.from({ length: 20 }, (_, order) => ({ id: `step ${order}`, order }));
      const filters = { insight: 'FUNNELS', events: steps, date_from: 'all' };
      const empty = await createTestApi(db());
      const result = await hasty.compute(db(), empty.project.id, storedInsight(filters));
      // No event is there to look at a clock for.
      expect(result.kind === 'failed' && result.reason).toBe(db().kind === 'postgres' && 'too_slow');
    });

    test('fail with a reason when their filters are too large together', async () => {
      const properties = Array.from({ length: 200 }, (_, key) => ({
        key: String(key),
        type: 'event',
        operator: 'between',
        value: [1, 2],
      }));
      const ask = (stepCount: number, filterCount: number) => {
        const events = Array.from({ length: stepCount }, (_, order) => ({
          id: `step ${order}`,
          order,
          properties: properties.slice(0, filterCount),
        }));
        return results.compute(db(), api.project.id, storedInsight({ insight: 'FUNNELS', events }));
      };
      expect(await ask(2, 100)).toMatchObject({ kind: 'computed' });
      expect(await ask(20, 200)).toMatchObject({ kind: 'failed', reason: 'too_large' });
    });

    test('leave no limit behind on the connection', async () => {
      await results.compute(db(), api.project.id, storedInsight(views), { refresh: true });
      const shown = await db().query(`select current_setting('statement_timeout') as timeout`);
      expect(shown).toEqual([{ timeout: '0' }]);
    });

    test('may be asked for all at once', async () => {
      const asked = Array.from({ length: 20 }, (_, days) =>
        results.compute(db(), api.project.id, storedInsight({ ...views, date_from: `-${days}d` })),
      );
      expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(asked.map(() => 'computed'));
    });
  });
});

const done = (result: InsightResult) => (result.kind === 'computed' ? result : undefined);
