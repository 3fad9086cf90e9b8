import { request } from 'undici';
import { UnavailableError } from '../errors.ts';
import { parseJson } from '../read/json.ts';
import type { BundledApi } from '../wire.ts';

export interface StoredPerson {
  readonly uuid: string;
  readonly name: string;
  readonly distinct_ids: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The few questions that the demo asks the bundled API. */
export function createApiClient({ url, personalKey }: Pick<BundledApi, 'url' | 'personalKey'>) {
  const ask = async <T>(path: string): Promise<T> => {
    const { statusCode, body } = await request(`${url}/api/projects/@current/${path}`, {
      headers: { authorization: `Bearer ${personalKey}` },
    });
    const text = await body.text();
    if (statusCode !== 200)
      throw new UnavailableError(`the bundled API answered ${statusCode} to ${path}: ${text.slice(0, 200)}`);
    return parseJson(text).value as T;
  };
  return {
    eventCounts: () => ask<{ results: { event: string; count: number }[]; total: number }>('event_counts/'),
    async findPerson(search: string): Promise<StoredPerson | undefined> {
      const found = await ask<{ results: StoredPerson[] }>(
        `persons/?limit=1&search=${encodeURIComponent(search)}`,
      );
      return found.results[0];
    },
    async eventsOf(personUuid: string, limit: number) {
      type Stored = { event: string; timestamp: string };
      const found = await ask<{ results: Stored[] }>(`events/?person_id=${personUuid}&limit=${limit}`);
      return found.results;
    },
  };
}
