import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, type TestContext } from 'vitest';
import { killAllBackhaul, runBackhaul } from '../support/backhaul-process.ts';
import { createLivePersons } from '../support/live-persons.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

/** What is known of persons and groups is neither gone nor taken for sent because of what another one says. */
const TIMEOUT_MS = 120_000;
const API_KEY = 'phc_known';
afterEach(killAllBackhaul);

async function createBench({ onTestFinished }: TestContext) {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const destination = await startStrictDestination({ apiKey: API_KEY });
  onTestFinished(() => destination.stop());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const backhaul = async (...args: string[]) => {
    const env = { BACKHAUL_PROJECT_API_KEY: API_KEY, REDIS_URL: redis.url };
    const ended = await runBackhaul(args, { dataDir: workplace.dataDir('embedded'), env });
    expect(ended.code, ended.stderr).toBe(0);
  };
  const run = (name: string, type: string, source: object, more: object, records: readonly object[]) => {
    const from = join(workplace.folder, `${name}.jsonl`);
    mkdirSync(workplace.folder, { recursive: true });
    writeFileSync(from, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const manifest = {
      name,
      source: { type, from, ...source },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      ...more,
    };
    return backhaul('run', '--json', workplace.manifest(manifest));
  };
  const getPerson = (id: string) => {
    const live = createLivePersons();
    for (const event of destination.events().values()) live.take(event);
    return live.get(id)?.properties;
  };
  return { destination, backhaul, run, getPerson };
}

/** An event of Amplitude's on the `day` of January. */
const opened = (day: number, app: number, properties: object) => ({
  event_type: 'Opened',
  event_time: `2024-01-0${day} 04:05:06.000000`,
  uuid: `00000000-0000-4000-8000-00000000000${day}`,
  app,
  amplitude_id: app,
  user_id: 'alice',
  user_properties: properties,
});
const ALL = { email: 'a@x.io', plan: 'pro', theme: 'dark' };

it(
  'Amplitude and Segment, held and released together',
  async (context) => {
    const { backhaul, run, getPerson } = await createBench(context);
    const call = { userId: 'alice', timestamp: '2024-01-01T04:05:00.000Z', messageId: 'm-1' };
    const held = { persons: 'hold' };
    await run('segment', 'segment', {}, held, [
      { ...call, type: 'identify', traits: { email: 'a@x.io', plan: 'pro' } },
    ]);
    await run('amplitude', 'amplitude', {}, held, [
      opened(2, 1, { theme: 'dark', trial: true }),
      opened(3, 1, { theme: 'dark' }),
    ]);
    expect(getPerson('alice')).toEqual({});
    await backhaul('persons', 'send', 'segment', 'amplitude');
    expect(getPerson('alice')).toEqual(ALL);
  },
  TIMEOUT_MS,
);

it(
  'two projects in one export of Amplitude',
  async (context) => {
    const { run, getPerson } = await createBench(context);
    await run('amplitude', 'amplitude', {}, {}, [
      opened(1, 1, { email: 'a@x.io', plan: 'pro', trial: true }),
      opened(2, 1, { email: 'a@x.io', plan: 'pro' }),
      opened(3, 2, { theme: 'dark' }),
    ]);
    expect(getPerson('alice')).toEqual(ALL);
  },
  TIMEOUT_MS,
);

it(
  'properties of groups, whose event the manifest names rightly only afterwards',
  async (context) => {
    const { destination, run } = await createBench(context);
    const mapping = {
      event: { column: 'event' },
      distinctId: { column: 'user' },
      timestamp: { column: 'at' },
      key: ['at'],
      groups: [{ type: 'company', column: 'company', set: { prefix: 'company_' } }],
    };
    const visits = [
      { event: 'Opened', user: 'alice', at: '2024-01-03T04:05:00Z', company: 'acme', company_plan: 'pro' },
    ];
    const group = { $group_type: 'company', $group_key: 'acme', $group_set: { plan: 'pro' } };
    const listGroups = () =>
      [...destination.events().values()].filter(({ event }) => event.includes('group'));
    await run('visits', 'jsonl', { mapping }, {}, visits);
    expect(listGroups()).toMatchObject([{ event: '$group_identify', properties: group }]);
    const people = { groupIdentifyEvent: '$groupidentify' };
    for (const name of ['visits-groups', 'visits-again'])
      await run(name, 'jsonl', { mapping }, { people }, visits);
    expect(listGroups()).toMatchObject([
      { event: '$group_identify', properties: group },
      { event: '$groupidentify', properties: group },
    ]);
  },
  TIMEOUT_MS,
);
