import { expect, test } from 'vitest';
import { onEveryDatabase } from '../../../support/databases.ts';
import { listenApi } from '../../../support/listening-api.ts';
import { addFlag } from '../flag-lab.ts';

const CLIENTS = 50;
const DECISIONS_OF_CLIENT = 10;
const BATCHES = 10;
const EVENTS_OF_BATCH = 300;

onEveryDatabase('decisions while an import is running', (db) => {
  test(`${CLIENTS} clients see no errors`, { timeout: 120_000 }, async () => {
    const api = await listenApi(db());
    const filters = { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] };
    await addFlag(db(), api.project.id, 'pro', filters);
    await addFlag(db(), api.project.id, 'kept', { groups: [{}] }, { keepsValue: true });

    const sendImport = async () => {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        await api.send(
          ...Array.from({ length: EVENTS_OF_BATCH }, (_, index) => ({
            event: 'imported',
            timestamp: '2024-01-01T00:00:00Z',
            properties: { distinct_id: `person ${index}`, $set: { plan: 'pro', batch } },
          })),
        );
      }
    };
    const ask = async (client: number) => {
      for (let index = 0; index < DECISIONS_OF_CLIENT; index += 1) {
        const response = await fetch(`${api.url}/decide/?v=3`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            api_key: api.project.projectKey,
            distinct_id: `person ${client}`,
            $anon_distinct_id: `before ${client}`,
          }),
        });
        expect(response.status).toBe(200);
        expect(await response.json()).toMatchObject({
          errorComputingFlags: false,
          featureFlags: { kept: true },
        });
      }
    };
    try {
      await Promise.all([sendImport(), ...Array.from({ length: CLIENTS }, (_, client) => ask(client))]);
      const last = await api.post('/decide/?v=3', {
        api_key: api.project.projectKey,
        distinct_id: 'person 1',
      });
      expect(await last.json()).toMatchObject({ featureFlags: { pro: true, kept: true } });
    } finally {
      await api.close();
    }
  });
});
