import { beforeAll, expect, test } from 'vitest';
import { changeProject, createProjectKey } from '../../../../src/server/auth/projects.ts';
import type { Db } from '../../../../src/server/database/db.ts';
import { createDecider } from '../../../../src/server/flags/decide/decide.ts';
import { LOOKUP_TABLES } from '../../../../src/server/flags/decide/kept.ts';
import { parseDecideRequest } from '../../../../src/server/flags/decide/request.ts';
import { createTestApi, type TestApi } from '../../../support/api.ts';
import { onBothDatabases } from '../../../support/databases.ts';
import { addFlag } from '../flag-lab.ts';

const TIME = '2024-01-01T00:00:00Z';

onBothDatabases('the next decision', (db) => {
  let api: TestApi;
  const cohorts = { fixed: 0, computed: 0 };

  const pro = { key: 'plan', value: 'pro', type: 'person' };
  const event = (name: string, id: string, properties: object = {}) =>
    api.send({ event: name, timestamp: TIME, properties: { distinct_id: id, ...properties } });
  const set = (id: string, $set: object) => event('$set', id, { $set });

  async function ask(id: string, more: object = {}): Promise<Record<string, unknown>> {
    const body = { api_key: api.project.projectKey, distinct_id: id, groups: { company: 'acme' }, ...more };
    const response = await api.post('/decide?v=3', body);
    expect(response.status).toBe(200);
    return ((await response.json()) as { featureFlags: Record<string, unknown> }).featureFlags;
  }

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await api.call(method, path, body);
    const text = await response.text();
    expect({ ok: response.ok, text }).toMatchObject({ ok: true });
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  async function personOf(id: string): Promise<number> {
    const { results } = await api.read<{ results: { id: number }[] }>(`persons/?distinct_id=${id}`);
    return results[0]?.id ?? 0;
  }

  beforeAll(async () => {
    api = await createTestApi(db());
    await set('ada', { plan: 'free' });
    await event('$groupidentify', 'ada', {
      $group_type: 'company',
      $group_key: 'acme',
      $group_set: { tier: 'tin' },
    });
    const make = (body: object) => call<{ id: number }>('POST', 'cohorts/', body);
    cohorts.fixed = (await make({ name: 'fixed', is_static: true })).id;
    cohorts.computed = (await make({ name: 'computed', groups: [{ properties: [pro] }] })).id;
    const inCohort = (id: number) => ({
      groups: [{ properties: [{ key: 'id', value: id, type: 'cohort' }] }],
    });
    await addFlag(db(), api.project.id, 'pro', { groups: [{ properties: [pro] }] });
    await addFlag(db(), api.project.id, 'fixed', inCohort(cohorts.fixed));
    await addFlag(db(), api.project.id, 'computed', inCohort(cohorts.computed));
    await addFlag(db(), api.project.id, 'gold', {
      aggregation_group_type_index: 0,
      groups: [{ properties: [{ key: 'tier', value: 'gold', type: 'group', group_type_index: 0 }] }],
    });
  });

  /** Asks twice before, so that whatever can be kept is. */
  async function expectChange(
    id: string,
    flag: string,
    change: () => Promise<unknown>,
    [before, after]: readonly [unknown, unknown],
  ): Promise<void> {
    await ask(id);
    expect((await ask(id))[flag]).toBe(before);
    await change();
    expect((await ask(id))[flag]).toBe(after);
  }

  test('knows an event that was just sent', async () => {
    await expectChange('ada', 'pro', () => set('ada', { plan: 'pro' }), [false, true]);
    await expectChange('ada', 'pro', () => event('$set', 'ada', { $unset: ['plan'] }), [true, false]);
    await expectChange('new', 'pro', () => set('new', { plan: 'pro' }), [false, true]);
    await expectChange('anon', 'pro', () => event('$identify', 'new', { $anon_distinct_id: 'anon' }), [
      false,
      true,
    ]);
    await expectChange('alias', 'pro', () => event('$create_alias', 'new', { alias: 'alias' }), [
      false,
      true,
    ]);
  });

  test('knows a merge of two persons', async () => {
    await set('first', { plan: 'pro' });
    await set('second', { colour: 'red' });
    await expectChange('second', 'pro', () => event('$merge_dangerously', 'first', { alias: 'second' }), [
      false,
      true,
    ]);
  });

  test('knows a change of a group, and of who is in a cohort', async () => {
    const gild = () =>
      event('$groupidentify', 'ada', {
        $group_type: 'company',
        $group_key: 'acme',
        $group_set: { tier: 'gold' },
      });
    await expectChange('ada', 'gold', gild, [false, true]);
    const uuids = { distinct_ids: ['ada'], persons: [await personOf('ada')] };
    const add = () => call('PATCH', `cohorts/${cohorts.fixed}/add_persons_to_static_cohort/`, uuids);
    await expectChange('ada', 'fixed', add, [false, true]);
    await set('fay', { plan: 'pro' });
    const redefine = () =>
      call('PATCH', `cohorts/${cohorts.computed}/`, {
        groups: [{ properties: [{ ...pro, value: 'gone' }] }],
      });
    await expectChange('fay', 'computed', redefine, [true, false]);
  });

  test('knows a change by hand, a split and a deletion', async () => {
    await set('eve', { plan: 'free' });
    const id = await personOf('eve');
    const update = () => call('POST', `persons/${id}/update_property/`, { key: 'plan', value: 'pro' });
    await expectChange('eve', 'pro', update, [false, true]);
    await event('$identify', 'eve', { $anon_distinct_id: 'eve before' });
    const split = () => call('POST', `persons/${id}/split/`, { main_distinct_id: 'eve' });
    await expectChange('eve before', 'pro', split, [true, false]);
    await expectChange('eve', 'pro', () => call('DELETE', `persons/${id}/`), [true, false]);
  });

  test('knows a flag that was made, changed or deleted', async () => {
    let id = 0;
    const path = () => `feature_flags/${id}/`;
    const make = async () => {
      const flag = { key: 'made', filters: { groups: [{}] } };
      id = (await call<{ id: number }>('POST', 'feature_flags/', flag)).id;
    };
    await expectChange('ada', 'made', make, [undefined, true]);
    const change = () => call('PATCH', path(), { filters: { groups: [{ rollout_percentage: 0 }] } });
    await expectChange('ada', 'made', change, [true, false]);
    await expectChange('ada', 'made', () => call('PATCH', path(), { deleted: true }), [false, undefined]);
  });

  test('knows what was written past the API', async () => {
    const write = (plan: string) =>
      db().query(
        `update persons set properties = $1::json from person_distinct_ids d
          where d.person_id = persons.id and d.distinct_id = 'sql'`,
        [JSON.stringify({ plan })],
      );
    await set('sql', { plan: 'free' });
    await expectChange('sql', 'pro', () => write('pro'), [false, true]);
    await expectChange('sql', 'pro', () => write('free'), [true, false]);
  });

  test('knows a project key that was replaced', async () => {
    const { project, post } = await createTestApi(db());
    const statuses = async () => {
      const body = { api_key: project.projectKey, distinct_id: 'ada' };
      const config = await post('/decide?v=3', { ...body, disable_flags: true });
      return [config.status, (await post('/decide?v=3', body)).status];
    };
    await statuses();
    expect(await statuses()).toEqual([200, 200]);
    await changeProject(db(), project.id, { projectKey: createProjectKey() });
    expect(await statuses()).toEqual([401, 401]);
  });

  test('knows flags of a backup that was restored', async () => {
    const { project, post } = await createTestApi(db());
    const id = await addFlag(db(), project.id, 'page', { groups: [{}] });
    const askPage = async () => {
      const body = { api_key: project.projectKey, distinct_id: 'ada' };
      const answer = (await (await post('/decide?v=3', body)).json()) as { featureFlags: { page: boolean } };
      return answer.featureFlags.page;
    };
    const setShare = (share: number, version: number) =>
      db().transaction(async (tx) => {
        const filters = JSON.stringify({ groups: [{ rollout_percentage: share }] });
        await tx.query('update feature_flags set filters = $1::jsonb where id = $2', [filters, id]);
        await tx.query('update projects set flags_version = $1 where id = $2', [version, project.id]);
      });
    await setShare(100, 9);
    expect([await askPage(), await askPage()]).toEqual([true, true]);
    await setShare(0, 8);
    expect(await askPage()).toBe(false);
  });

  test('is made by flags of a restored backup while they are read, too', async () => {
    const { project } = await createTestApi(db());
    const id = await addFlag(db(), project.id, 'page', { groups: [{}] });
    await db().query('update projects set flags_version = 9 where id = $1', [project.id]);
    let hold = async () => {};
    const slow: Db = {
      ...db(),
      async transaction(run, use) {
        await hold();
        return db().transaction(run, use);
      },
    };
    const decider = createDecider({ db: slow, now: Date.now });
    const decide = async () => {
      const request = { ...parseDecideRequest({ distinct_id: 'ada' }), distinctId: 'ada' };
      const { decisions } = await decider.decide(project.projectKey, request, {});
      return decisions.decided.get('page')?.value;
    };
    expect(await decide()).toBe(true);
    await db().query(`update feature_flags set filters = '{"groups": []}' where id = $1`, [id]);
    await db().query('update projects set flags_version = 8 where id = $1', [project.id]);
    let read = () => {};
    const reading = new Promise<void>((onRead) => {
      hold = () => {
        onRead();
        return new Promise((resolve) => {
          read = resolve;
        });
      };
    });
    const first = decide();
    await reading;
    const second = decide();
    read();
    expect([await first, await second]).toEqual([false, false]);
  });

  test('knows the time', async () => {
    let now = Date.parse('2024-03-10T12:00:00Z');
    const { project, post } = await createTestApi(db(), () => now);
    const old = { key: 'joined', value: '-7d', operator: 'is_date_before', type: 'person' };
    await addFlag(db(), project.id, 'old', { groups: [{ properties: [old] }] });
    const askNow = async () => {
      const body = {
        api_key: project.projectKey,
        distinct_id: 'x',
        person_properties: { joined: '2024-03-08' },
      };
      const answer = (await (await post('/decide?v=3', body)).json()) as { featureFlags: { old: boolean } };
      return answer.featureFlags.old;
    };
    expect([await askNow(), await askNow()]).toEqual([false, false]);
    now += 10 * 24 * 60 * 60 * 1000;
    expect(await askNow()).toBe(true);
  });

  test('is that of whoever asks', async () => {
    await set('kim', { plan: 'pro' });
    const flags = async (more: object) => (await ask('kim', more))['pro'];
    expect([await flags({}), await flags({})]).toEqual([true, true]);
    expect(await flags({ person_properties: { plan: 'free' } })).toBe(false);
    expect(await flags({})).toBe(true);
    expect((await ask('kim', { flag_keys: ['gold'] }))['pro']).toBeUndefined();
    const body = { api_key: 'phc_unknown', distinct_id: 'kim' };
    expect((await api.post('/decide?v=3', body)).status).toBe(401);
    const short = await api.post('/decide?v=1', { api_key: api.project.projectKey, distinct_id: 'kim' });
    expect(((await short.json()) as { featureFlags: unknown }).featureFlags).toBeInstanceOf(Array);
  });

  test('needs no statement on the embedded database when nothing has changed', async () => {
    let statements: string[] = [];
    const counted: Db = {
      ...db(),
      query(text, params) {
        statements.push(text);
        return db().query(text, params);
      },
    };
    const decider = createDecider({ db: counted, now: Date.now });
    const decide = () => {
      const request = parseDecideRequest({ distinct_id: 'ada', groups: { company: 'acme' } });
      return decider.decide(api.project.projectKey, { ...request, distinctId: 'ada' }, {});
    };
    await decide();
    const tables = statements.join('\n').matchAll(/\b(?:from|join) ([a-z]\w+) [a-z]\b/g);
    const asked = new Set([...tables].map(([, table]) => table));
    expect([...asked].filter((table) => !new Set<unknown>(LOOKUP_TABLES).has(table))).toEqual([]);
    expect(asked.size).toBe(7);
    statements = [];
    await decide();
    expect(statements.length > 0).toBe(db().kind === 'postgres');
  });

  test('nothing reaches a table of a lookup from one that is not watched, or by a function', async () => {
    const cascades = await db().query<{ source: string; target: string }>(
      `select confrelid::regclass::text as source, conrelid::regclass::text as target
        from pg_constraint where contype = 'f' and confdeltype <> 'a' and confdeltype <> 'r'`,
    );
    const triggers = await db().query<{ source: string; body: string }>(
      `select t.tgrelid::regclass::text as source, f.prosrc as body
        from pg_trigger t join pg_proc f on f.oid = t.tgfoid where not t.tgisinternal`,
    );
    const functions = await db().query<{ body: string }>(
      `select prosrc as body from pg_proc
        where pronamespace = current_schema()::regnamespace and prorettype <> 'trigger'::regtype`,
    );
    const watched = new Set<string>(LOOKUP_TABLES);
    const names = new RegExp(`\\b(?:${LOOKUP_TABLES.join('|')})\\b`);
    expect(cascades.length).toBeGreaterThan(0);
    expect(triggers.length).toBeGreaterThan(0);
    expect(cascades.filter(({ source, target }) => watched.has(target) && !watched.has(source))).toEqual([]);
    expect(triggers.filter(({ source, body }) => names.test(body) && !watched.has(source))).toEqual([]);
    // A statement that begins with `select` is not counted.
    expect(functions.filter(({ body }) => names.test(body))).toEqual([]);
  });
});
