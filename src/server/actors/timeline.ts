import { applyChanges, findChanges } from '../capture/ingest/person-changes.ts';
import type { JsonObject } from '../http/json.ts';
import { sameJson } from '../http/json.ts';

/** A time during which the properties of a person that matter stayed the same. */
export interface TimelinePoint {
  /** Of its first relevant event, ISO 8601. */
  readonly timestamp: string;
  readonly properties: JsonObject;
  readonly relevant_event_count: number;
}

export interface TimelineEvent {
  readonly event: string;
  readonly timestamp: string;
  readonly properties: JsonObject;
  readonly isRelevant: boolean;
}

export interface Timeline {
  /** The next event, in order of time. */
  readonly add: (event: TimelineEvent) => void;
  readonly points: readonly TimelinePoint[];
}

/**
 * Follows the properties of one person through their events, which say what each of them set. Merges are not
 * events of their own: what the other person brought along is there from the event that set it.
 */
export function createTimeline(keys: readonly string[]): Timeline {
  const properties = new Map<string, unknown>();
  const points: TimelinePoint[] = [];
  return {
    points,
    add({ event, timestamp, properties: own, isRelevant }) {
      const changes = findChanges(properties, { event, properties: own });
      if (changes) applyChanges(properties, changes);
      if (!isRelevant) return;
      const now = Object.fromEntries(keys.map((key) => [key, properties.get(key) ?? null]));
      const last = points.at(-1);
      if (last !== undefined && sameJson(last.properties, now)) {
        points[points.length - 1] = { ...last, relevant_event_count: last.relevant_event_count + 1 };
      } else {
        points.push({ timestamp, properties: now, relevant_event_count: 1 });
      }
    },
  };
}
