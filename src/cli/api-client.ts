import type { BundledApi } from '../runtime/runtime.ts';
import { callApi } from './ask-api.ts';

export interface StoredPerson {
  readonly uuid: string;
  readonly name: string;
  readonly distinct_ids: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The few questions that the demo asks the bundled API. */
export function createApiClient(api: Pick<BundledApi, 'url' | 'personalKey'>) {
  const ask = <T>(path: string) => callApi<T>(api, { path: `/api/projects/@current/${path}` });
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
