import { createHash } from 'node:crypto';
import type { TargetEvent } from '../contract/event.ts';
import { parseJson } from '../lib/json/parse-json.ts';
import { createEventId } from '../sources/mapping/event-id.ts';
import type { FieldProperty } from './pack-properties.ts';

/**
 * Events that come from no single record. Their uuids depend on their content and its subject, not on how
 * often or in which export it was seen: overlapping exports yield the same events instead of more.
 */
const COMMON = { $geoip_disable: true } as const;

export function createMergeEvent(userId: string, anonId: string, time: string): TargetEvent {
  return {
    event: '$identify',
    uuid: createEventId(['people', 'merge', userId, anonId]),
    timestamp: time,
    properties: { distinct_id: userId, $anon_distinct_id: anonId, ...COMMON },
  };
}

export function createPersonEvent(
  id: string,
  time: string,
  properties: readonly FieldProperty[],
): TargetEvent {
  return {
    event: '$identify',
    uuid: createEventId(['people', 'person', id, renderContent(properties)]),
    timestamp: time,
    properties: { distinct_id: id, ...toFields(properties), ...COMMON },
  };
}

export function createGroupEvent(
  event: string,
  groupType: string,
  groupKey: string,
  time: string,
  properties: readonly FieldProperty[],
): TargetEvent {
  return {
    event,
    uuid: createEventId(['people', 'group', event, groupType, groupKey, renderContent(properties)]),
    timestamp: time,
    properties: {
      distinct_id: toGroupDistinctId(groupType, groupKey),
      $group_type: groupType,
      $group_key: groupKey,
      ...toFields(properties),
      ...COMMON,
    },
  };
}

const renderContent = (properties: readonly FieldProperty[]) =>
  JSON.stringify(properties.map(({ field, key, text }) => [field, key, text]));

function toFields(properties: readonly FieldProperty[]): Record<string, Record<string, unknown>> {
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

/** The distinct id of a group's events, formed as the vendor's server libraries form it. */
export function toGroupDistinctId(groupType: string, groupKey: string): string {
  const id = `$${groupType}_${groupKey}`;
  if (id.length <= ID_MAX_LENGTH) return id;
  // The destination would cut it, and two groups might become one. Half a surrogate pair is dropped.
  const head = id.slice(0, ID_MAX_LENGTH - TAIL_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}_${createHash('sha256').update(id).digest('hex').slice(0, TAIL_LENGTH)}`;
}
