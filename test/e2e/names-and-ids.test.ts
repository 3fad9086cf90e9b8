import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, type TestContext } from 'vitest';
import { killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { createLivePersons } from '../support/live-persons.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

/** What a manifest excludes never leaves, and records that share an id of the vendor's all arrive. */
const TIMEOUT_MS = 120_000;
const API_KEY = 'phc_names';
afterEach(killAllBackhaul);

async function createBench({ onTestFinished }: TestContext) {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const destination = await startStrictDestination({ apiKey: API_KEY });
  onTestFinished(() => destination.stop());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const backhaul = (command: 'run' | 'plan', name: string, source: object) => {
    const manifest = workplace.manifest({
      name,
      source,
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      rejects: { failAbove: '50%' },
    });
    return runBackhaul([command, '--json', manifest], {
      dataDir: workplace.dataDir('embedded'),
      env: {
        BACKHAUL_PROJECT_API_KEY: API_KEY,
        BACKHAUL_HASH_KEY: 'a key that only the tests have',
        REDIS_URL: redis.url,
      },
    });
  };
  const put = (path: string, records: readonly object[]) => {
    mkdirSync(join(workplace.folder, path, '..'), { recursive: true });
    writeFileSync(join(workplace.folder, path), records.map((each) => `${JSON.stringify(each)}\n`).join(''));
  };
  return { destination, backhaul, put };
}

it(
  'excluded fields of spread columns, persons and groups are sent nowhere; a name that matches nothing is told',
  async (context) => {
    const { destination, backhaul, put } = await createBench(context);
    const secret = 'alice@example.com';
    put('visits.jsonl', [
      {
        e: 'Opened',
        u: ' u-1 ',
        t: '2024-02-03T04:05:06Z',
        props: { email: secret, profile: { mail: secret, plan: 'pro' } },
        user_email: secret,
        company: 'acme',
        company_owner: { mail: secret },
      },
    ]);
    const source = {
      type: 'jsonl',
      from: 'visits.jsonl',
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't' },
        spreadColumns: ['props'],
        person: { set: { prefix: 'user_' } },
        groups: [{ type: 'company', column: 'company', set: { prefix: 'company_' } }],
        rename: { 'profile.plan': 'tier' },
        exclude: ['email', 'profile.mail', 'user_email', 'company_owner.mail', 'emial'],
      },
    };
    const planned = await backhaul('plan', 'visits', source);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      warnings: [expect.stringContaining('mapping.exclude names "emial", which no sampled record has')],
    });
    const ended = await backhaul('run', 'visits', source);
    expect(ended.code, ended.stderr).toBe(0);
    const events = [...destination.events().values()];
    expect(JSON.stringify(events)).not.toContain(secret);
    expect(events).toMatchObject([{ event: 'Opened', distinctId: 'u-1', properties: { tier: 'pro' } }]);
  },
  TIMEOUT_MS,
);

it(
  'different calls with one messageId all arrive, however they lie in files',
  async (context) => {
    const { destination, backhaul, put } = await createBench(context);
    const call = {
      type: 'track',
      messageId: 'order-7',
      userId: 'u-1',
      timestamp: '2024-02-03T04:05:06.000Z',
    };
    const completed = { ...call, event: 'Order Completed' };
    const refunded = { ...call, event: 'Order Refunded' };
    put('one/all.jsonl', [completed, refunded, completed]);
    put('two/1.jsonl', [refunded]);
    put('two/2.jsonl', [completed]);

    const first = await backhaul('run', 'one', { type: 'segment', from: 'one' });
    expect(first.code, first.stderr).toBe(0);
    expect(parseReport(first)).toMatchObject({
      mapping: 'segment@4',
      counts: { read: 3, delivered: 2, duplicate: 1 },
    });
    const stored = [...destination.events().keys()];
    expect(stored).toHaveLength(2);
    const second = await backhaul('run', 'two', { type: 'segment', from: 'two' });
    expect(second.code, second.stderr).toBe(0);
    expect([...destination.events().keys()]).toEqual(stored);
    expect(destination.conflicts).toEqual([]);
  },
  TIMEOUT_MS,
);

it(
  'a user who was renamed, before and after, is one person with what was last said of it',
  async (context) => {
    const { destination, backhaul, put } = await createBench(context);
    const call = (day: number, type: string, fields: object) => ({
      type,
      messageId: `m-${day}`,
      timestamp: `2024-02-0${day}T04:05:06.000Z`,
      ...(type === 'track' ? { event: 'Opened' } : {}),
      ...fields,
    });
    put('calls/b.jsonl', [
      call(1, 'track', { anonymousId: 'phone' }),
      call(2, 'identify', { anonymousId: 'phone', userId: 'first', traits: { plan: 'free' } }),
      call(5, 'track', { anonymousId: 'tablet', userId: 'second' }),
      call(8, 'track', { userId: 'other' }),
    ]);
    put('calls/a.jsonl', [
      call(7, 'track', { anonymousId: 'phone', userId: 'last' }),
      call(6, 'alias', { previousId: 'second', userId: 'last' }),
      call(4, 'identify', { userId: 'second', traits: { plan: 'gold' } }),
      call(3, 'alias', { previousId: 'first', userId: 'second' }),
    ]);

    const ended = await backhaul('run', 'renamed', { type: 'segment', from: 'calls' });
    expect(ended.code, ended.stderr).toBe(0);
    const live = createLivePersons();
    for (const event of destination.events().values()) live.take(event);
    expect(live.list()).toEqual([
      { ids: ['first', 'last', 'phone', 'second', 'tablet'], properties: { plan: 'gold' } },
      { ids: ['other'], properties: {} },
    ]);
    // The earlier names are merged, never merged into: the destination would refuse to merge them further.
    expect([...live.merges()].sort()).toEqual([
      'first → last',
      'phone → last',
      'second → last',
      'tablet → last',
    ]);
    expect(parseReport(ended)).toMatchObject({
      people: { pairs: 4, setAside: {}, uniques: { '2024-02': { vendor: 3, destination: 2 } } },
    });
  },
  TIMEOUT_MS,
);

it(
  'devices without a user stay apart where ids are hashed',
  async (context) => {
    const { destination, backhaul, put } = await createBench(context);
    const users = [true, true, false, false, {}, {}, [1], [1], { id: 7 }, { id: 7 }];
    const visit = { e: 'Opened', t: '2024-02-03T04:05:06Z' };
    put('visits.jsonl', [
      ...users.map((u, n) => ({ ...visit, u, d: `device-${n}`, c: u, c_size: n })),
      { ...visit, u: 'ann', d: 'phone', c: 'acme', c_size: 9 },
      { ...visit, u: 'ann', d: 'tablet' },
    ]);
    const ended = await backhaul('run', 'hashed', {
      type: 'jsonl',
      from: 'visits.jsonl',
      mapping: {
        event: { column: 'e' },
        distinctId: { column: ['u', 'd'] },
        anonymousId: { column: 'd' },
        timestamp: { column: 't' },
        groups: [{ type: 'company', column: 'c', set: { prefix: 'c_' } }],
        hash: { columns: ['u', 'd', 'c'], key: '${BACKHAUL_HASH_KEY}' },
      },
    });
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({ counts: { read: 12, delivered: 12 }, people: { pairs: 2 } });
    const live = createLivePersons();
    for (const event of destination.events().values()) live.take(event);
    expect(live.list().map(({ ids }) => ids.length)).toEqual(
      expect.arrayContaining([3, ...users.map(() => 1)]),
    );
    expect(live.list()).toHaveLength(users.length + 1);
    const grouped = [...destination.events().values()].filter(({ event }) => event === '$group_identify');
    expect(grouped).toHaveLength(1);
  },
  TIMEOUT_MS,
);

it(
  'a record of a group whose key is too long is kept as a reject, and planned as one',
  async (context) => {
    const { destination, backhaul, put } = await createBench(context);
    const visit = { e: 'Opened', u: 'ann', t: '2024-02-03T04:05:06Z' };
    put('visits.jsonl', [
      { ...visit, c: 'k'.repeat(201), c_size: 1 },
      { ...visit, c: 'k'.repeat(200), c_size: 2 },
    ]);
    const source = {
      type: 'jsonl',
      from: 'visits.jsonl',
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't' },
        groups: [{ type: 'company', column: 'c', set: { prefix: 'c_' } }],
      },
    };
    const planned = await backhaul('plan', 'long', source);
    expect(JSON.parse(planned.stdout)).toMatchObject({ rejects: [{ reason: 'id_too_long', inSample: 1 }] });
    const ended = await backhaul('run', 'long', source);
    expect(parseReport(ended)).toMatchObject({
      counts: { read: 2, delivered: 1, rejected: 1 },
      byReason: { id_too_long: 1 },
    });
    const sent = [...destination.events().values()];
    expect(sent.map(({ event }) => event).toSorted()).toEqual(['$group_identify', 'Opened']);
  },
  TIMEOUT_MS,
);

it(
  'hidden files of a folder are left out, and plan and run say so',
  async (context) => {
    const { destination, backhaul, put } = await createBench(context);
    const visit = { e: 'Opened', u: 'ann', t: '2024-02-03T04:05:06Z' };
    put('visits/1.jsonl', [visit]);
    put('visits/.2.jsonl', [{ ...visit, u: 'bob' }]);
    const source = {
      type: 'jsonl',
      from: 'visits',
      mapping: { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } },
    };
    const said = 'holds a hidden file or folder (.2.jsonl), which is left out';
    const planned = await backhaul('plan', 'visits', source);
    expect(JSON.parse(planned.stdout)).toMatchObject({ warnings: [expect.stringContaining(said)] });
    const ended = await backhaul('run', 'visits', source);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(said);
    expect([...destination.events().values()].map(({ distinctId }) => distinctId)).toEqual(['ann']);
  },
  TIMEOUT_MS,
);
