import { join } from 'node:path';
import { request } from 'undici';
import { loadApiKeys } from '../../src/embedded/api-keys.ts';
import { buildApi } from '../../src/server/app.ts';
import { createPgliteDb } from '../../src/server/database/pglite.ts';
import { silent } from './silent.ts';
import type { StrictDestination } from './strict-destination.ts';

/** What arrived: one `uuid event distinct_id timestamp` an event. Equal sets are equal migrations. */
export type EventSet = ReadonlySet<string>;

interface Identity {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  readonly timestamp: string;
}

const toLine = ({ uuid, event, distinctId, timestamp }: Identity) =>
  JSON.stringify([uuid, event, distinctId, new Date(timestamp).toISOString()]);

export const eventsAt = (destination: StrictDestination): EventSet =>
  new Set([...destination.events().values()].map(toLine));

/**
 * Asks the bundled API of a data folder that no process uses right now: here, over its database, which
 * costs a third of starting its process and its Redis.
 */
export async function eventsInBundledApi(dataDir: string): Promise<EventSet> {
  const db = createPgliteDb(join(dataDir, 'database'));
  try {
    const { personalKey } = loadApiKeys(dataDir);
    const answer = await buildApi({ db, log: silent }).request(EVENT_IDS, {
      headers: authorize(personalKey),
    });
    return parseEvents(answer.status, await answer.text());
  } finally {
    await db.close();
  }
}

/** Asks a bundled API that is up. */
export async function fetchEvents(api: { url: string; personalKey: string }): Promise<EventSet> {
  const answer = await request(`${api.url}${EVENT_IDS}`, { headers: authorize(api.personalKey) });
  return parseEvents(answer.statusCode, await answer.body.text());
}

const EVENT_IDS = '/api/projects/@current/events/ids.ndjson';

const authorize = (personalKey: string) => ({ authorization: `Bearer ${personalKey}` });

function parseEvents(status: number, text: string): EventSet {
  if (status !== 200) throw new Error(`${status}: ${text.slice(0, 500)}`);
  return new Set(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const { distinct_id: distinctId, ...rest } = JSON.parse(line) as Identity & { distinct_id: string };
        return toLine({ ...rest, distinctId });
      }),
  );
}

/** `expect(compareSets(a, b)).toEqual(SAME)` shows the first few that differ, not two sets of thousands. */
export function compareSets(actual: EventSet, expected: EventSet) {
  const missing = [...expected].filter((line) => !actual.has(line));
  const unexpected = [...actual].filter((line) => !expected.has(line));
  return {
    missing: missing.length,
    unexpected: unexpected.length,
    firstMissing: missing.slice(0, 3),
    firstUnexpected: unexpected.slice(0, 3),
  };
}

export const SAME = { missing: 0, unexpected: 0, firstMissing: [], firstUnexpected: [] };
