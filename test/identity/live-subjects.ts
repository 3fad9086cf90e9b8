import type { TargetEvent } from '../../src/contract/event.ts';
import { canonicalJson } from '../../src/lib/json/canonical-json.ts';

/**
 * Persons and groups of a destination that takes events with one uuid, name, distinct id and day for repeats. It
 * knows no merges.
 */
export function createLiveSubjects() {
  const taken = new Set<string>();
  const subjects = new Map<string, Record<string, unknown>>();

  const toFields = (value: unknown) => (value ?? {}) as Record<string, unknown>;
  return {
    take(events: readonly TargetEvent[]) {
      for (const { uuid, event, timestamp, properties } of events) {
        const id = String(properties.distinct_id);
        const key = [uuid, event, id, timestamp.slice(0, 10)].join();
        if (taken.has(key)) continue;
        taken.add(key);
        const known = subjects.get(id);
        const set = { ...toFields(properties['$set']), ...toFields(properties['$group_set']) };
        subjects.set(id, { ...toFields(properties['$set_once']), ...known, ...set });
      }
    },
    /** By id, as JSON with sorted keys. */
    list: (): string[] => [...subjects].map((one) => canonicalJson(one)).sort(),
  };
}
