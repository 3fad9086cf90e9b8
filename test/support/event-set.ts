import { request } from 'undici';
import { createSupervisor } from '../../src/embedded/supervisor.ts';
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

/** Asks the bundled API of a data folder that nobody runs right now. */
export async function eventsInBundledApi(dataDir: string): Promise<EventSet> {
  const supervisor = await createSupervisor({ dataDir, want: { redis: true, api: true }, log: silent });
  try {
    if (!supervisor.api) throw new Error('the bundled API did not start');
    return await fetchEvents(supervisor.api);
  } finally {
    await supervisor.close();
  }
}

/** Asks a bundled API that is up. */
export async function fetchEvents(api: { url: string; personalKey: string }): Promise<EventSet> {
  const answer = await request(`${api.url}/api/projects/@current/events/ids.ndjson`, {
    headers: { authorization: `Bearer ${api.personalKey}` },
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 500)}`);
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
