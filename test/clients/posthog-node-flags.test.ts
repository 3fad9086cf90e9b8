import { randomUUID } from 'node:crypto';
import { PostHog as PostHog2 } from 'posthog-node-2';
import { PostHog as PostHog3 } from 'posthog-node-3';
import { PostHog as PostHog4 } from 'posthog-node-4';
import { PostHog as PostHog5 } from 'posthog-node-5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addFlag } from '../server/flags/flag-lab.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createPersonalKey } from '../support/keys.ts';
import { type ListeningApi, listenApi } from '../support/listening-api.ts';
import { until } from '../support/until.ts';

/** The service's own client, unmodified, decides flags here: asked remotely, and by itself. */
const CLIENTS = [
  ['posthog-node 2.6', PostHog2],
  ['posthog-node 3.6', PostHog3],
  ['posthog-node 4.10', PostHog4],
  ['posthog-node 5', PostHog5],
] as const;

const FLAGS = {
  everybody: { groups: [{ properties: [], rollout_percentage: 100 }], payloads: { true: '{"a":1}' } },
  nobody: { groups: [{ properties: [], rollout_percentage: 0 }] },
  half: { groups: [{ properties: [], rollout_percentage: 50 }] },
  pro: {
    groups: [
      {
        properties: [{ key: 'plan', value: 'pro', operator: 'exact', type: 'person' }],
        rollout_percentage: 100,
      },
    ],
  },
  colour: {
    groups: [{ properties: [], rollout_percentage: 100 }],
    multivariate: {
      variants: [
        { key: 'red', name: '', rollout_percentage: 50 },
        { key: 'blue', name: '', rollout_percentage: 50 },
      ],
    },
    payloads: { red: '"#f00"', blue: '"#00f"' },
  },
  gold: {
    aggregation_group_type_index: 0,
    groups: [
      {
        properties: [{ key: 'tier', value: 'gold', operator: 'exact', type: 'group', group_type_index: 0 }],
        rollout_percentage: 100,
      },
    ],
  },
};

onEveryDatabase('unmodified clients', (db) => {
  let api: ListeningApi;
  let personalApiKey: string;

  beforeAll(async () => {
    api = await listenApi(db());
    personalApiKey = await createPersonalKey(db(), {
      label: 'local evaluation',
      scopes: ['feature_flag:read'],
    });
    await api.send(
      {
        event: '$set',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
      },
      {
        event: '$groupidentify',
        timestamp: '2024-01-01T00:00:00Z',
        properties: {
          distinct_id: 'ada',
          $group_type: 'company',
          $group_key: 'acme',
          $group_set: { tier: 'gold' },
        },
      },
    );
    for (const [key, filters] of Object.entries(FLAGS)) {
      await addFlag(db(), api.project.id, key, filters);
    }
  });
  afterAll(() => api.close());

  describe.each(CLIENTS)('%s', (_name, Client) => {
    const connect = (more: { personalApiKey?: string } = {}) =>
      new Client(api.project.projectKey, { host: api.url, flushAt: 1, flushInterval: 0, ...more });

    test('asks for flags, payloads, groups and overrides', async () => {
      const client = connect();
      try {
        const groups = { company: 'acme' };
        const flags = await client.getAllFlags('ada', { groups });
        expect(flags).toMatchObject({ everybody: true, nobody: false, pro: true, gold: true });
        expect(['red', 'blue']).toContain(flags['colour']);
        expect(await client.getFeatureFlag('pro', 'bob')).toBe(false);
        expect(await client.getFeatureFlag('pro', 'bob', { personProperties: { plan: 'pro' } })).toBe(true);
        expect(await client.isFeatureEnabled('gold', 'bob', { groups: { company: 'other' } })).toBe(false);
        expect(
          await client.isFeatureEnabled('gold', 'bob', {
            groups: { company: 'other' },
            groupProperties: { company: { tier: 'gold' } },
          }),
        ).toBe(true);
        expect(await client.getFeatureFlagPayload('everybody', 'ada')).toEqual({ a: 1 });
        const colour = await client.getFeatureFlag('colour', 'ada');
        expect(await client.getFeatureFlagPayload('colour', 'ada')).toBe(colour === 'red' ? '#f00' : '#00f');
      } finally {
        await client.shutdown();
      }
    });

    test('decides by itself as it is decided here', async () => {
      const remote = connect();
      const local = connect({ personalApiKey });
      try {
        await local.reloadFeatureFlags();
        for (const id of ['ada', 'bob', ...Array.from({ length: 20 }, () => randomUUID())]) {
          const options = { personProperties: { plan: 'pro' }, onlyEvaluateLocally: true };
          const own = await local.getAllFlags(id, {
            ...options,
            groups: { company: 'acme' },
            groupProperties: { company: { tier: 'gold' } },
          });
          const here = await remote.getAllFlags(id, {
            personProperties: { plan: 'pro' },
            groups: { company: 'acme' },
          });
          expect(own).toEqual(here);
        }
      } finally {
        await Promise.all([remote.shutdown(), local.shutdown()]);
      }
    });

    test('sends its events along with their flags', async () => {
      const id = `with-flags-${randomUUID()}`;
      const client = connect();
      client.capture({ distinctId: id, event: 'bought', sendFeatureFlags: true });
      // Older clients do not wait for the decision when they shut down.
      const properties = await until('the event', async () => {
        const [row] = await db().query<{ properties: string }>(
          `select properties from events where project_id = $1 and distinct_id = $2 and event = 'bought'`,
          [api.project.id, id],
        );
        return row?.properties;
      });
      await client.shutdown();
      expect(JSON.parse(properties)).toMatchObject({ '$feature/everybody': true });
    });
  });
});
