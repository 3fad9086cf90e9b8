import { createHash } from 'node:crypto';
import type { TargetEvent } from '../contract/event.ts';
import { parseJson } from '../lib/json/parse-json.ts';
import { eventId } from '../sources/mapping/event-id.ts';
import type { FieldProperty } from './pack-properties.ts';

/**
 * Events that stem from no single record. Their uuids depend on what they say and about whom, not on
 * how often or in which export it was seen: overlapping exports repeat them instead of adding to them.
 */
const COMMON = { $geoip_disable: true } as const;

export function mergeEvent(userId: string, anonId: string, time: string): TargetEvent {
  return {
    event: '$identify',
    uuid: eventId(['people', 'merge', userId, anonId]),
    timestamp: time,
    properties: { distinct_id: userId, $anon_distinct_id: anonId, ...COMMON },
  };
}

export function personEvent(id: string, time: string, properties: readonly FieldProperty[]): TargetEvent {
  return {
    event: '$identify',
    uuid: eventId(['people', 'person', id, contentOf(properties)]),
    timestamp: time,
    properties: { distinct_id: id, ...listFields(properties), ...COMMON },
  };
}

export function groupEvent(
  event: string,
  groupType: string,
  groupKey: string,
  time: string,
  properties: readonly FieldProperty[],
): TargetEvent {
  return {
    event,
    uuid: eventId(['people', 'group', event, groupType, groupKey, contentOf(properties)]),
    timestamp: time,
    properties: {
      distinct_id: groupDistinctId(groupType, groupKey),
      $group_type: groupType,
      $group_key: groupKey,
      ...listFields(properties),
      ...COMMON,
    },
  };
}

const contentOf = (properties: readonly FieldProperty[]) =>
  JSON.stringify(properties.map(({ field, key, text }) => [field, key, text]));

function listFields(properties: readonly FieldProperty[]): Record<string, Record<string, unknown>> {
  const byField = new Map<string, [string, unknown][]>();
  for (const { field, key, text } of properties) {
    const entries = byField.get(field);
    if (entries) entries.push([key, parseJson(text)]);
    else byField.set(field, [[key, parseJson(text)]]);
  }
  return Object.fromEntries([...byField].map(([field, entries]) => [field, Object.fromEntries(entries)]));
}

const ID_MAX_LENGTH = 200;
const TAIL_LENGTH = 32;

/** A group speaks through an id of its own, as the vendor's server libraries do it. */
export function groupDistinctId(groupType: string, groupKey: string): string {
  const id = `$${groupType}_${groupKey}`;
  if (id.length <= ID_MAX_LENGTH) return id;
  // The destination would cut it, and two groups might become one; a lone half of an emoji is dropped.
  const head = id.slice(0, ID_MAX_LENGTH - TAIL_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}_${createHash('sha256').update(id).digest('hex').slice(0, TAIL_LENGTH)}`;
}
