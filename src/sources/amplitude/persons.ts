import type { IdentityFact } from '../../contract/identity-fact.ts';
import { readField } from '../../lib/json/record-view.ts';
import { type IdRules, readLongGroupKey } from '../mapping/distinct-id.ts';
import { ID_MAX_LENGTH } from '../mapping/identity.ts';
import { toOwnName, toOwnNames } from '../mapping/properties.ts';
import { asFields, type Fields } from '../mapping/table.ts';
import type { AmplitudeRules } from './rules.ts';
import { createReadUserProperties } from './user-properties.ts';

/** The person and time of a record; ids are those that may be sent. */
export interface AmplitudeSubject {
  readonly time: string;
  readonly ids: IdRules;
  readonly groupTypes: ReadonlySet<string> | undefined;
  readonly distinctId?: string;
  readonly userId?: string | undefined;
  readonly deviceId?: string | undefined;
}

/**
 * pair: device_id and user_id of one record. person: user_properties, a snapshot at the time of the
 * event. group: group_properties, as `{ type: { key: { … } } }`.
 */
export function createMapFacts({
  userProperties,
  toOrder,
}: Pick<AmplitudeRules, 'userProperties' | 'toOrder'>) {
  const readUserProperties = createReadUserProperties(userProperties);
  return (record: Fields, subject: AmplitudeSubject): IdentityFact[] => {
    const { time, distinctId } = subject;
    const facts = readPair(subject);

    if (distinctId !== undefined) {
      const { set, setOnce } = readUserProperties(readField(record, 'user_properties'));
      if (set || setOnce)
        facts.push({ kind: 'person', distinctId, time: time + toOrder(record), set, setOnce });
    }

    const groups = asFields(record['group_properties']);
    if (groups) pushGroupFacts(facts, groups, subject);
    return facts;
  };
}

export function readPair({
  time,
  userId,
  deviceId,
}: Pick<AmplitudeSubject, 'time' | 'userId' | 'deviceId'>): IdentityFact[] {
  if (
    userId === undefined ||
    deviceId === undefined ||
    userId === deviceId ||
    deviceId.length > ID_MAX_LENGTH
  )
    return [];
  return [{ kind: 'pair', anonId: deviceId, userId, time }];
}

function pushGroupFacts(
  facts: IdentityFact[],
  groups: Fields,
  { time, ids, groupTypes }: AmplitudeSubject,
): void {
  for (const groupType of Object.keys(groups)) {
    if ((groupTypes && !groupTypes.has(groupType)) || !ids.isGroupType(groupType)) continue;
    const byKey = asFields(groups[groupType]);
    for (const key of Object.keys(byKey ?? {})) {
      const groupKey = ids.readSendable(key);
      const set = asFields(byKey?.[key]);
      if (groupKey !== undefined && set)
        facts.push({ kind: 'group', groupType: toOwnName(groupType), groupKey, time, set: toOwnNames(set) });
    }
  }
}

/** The first key of `group_properties` that is longer than can be sent, of the types that become groups. */
export function findLongGroupKey(
  record: Fields,
  { ids, groupTypes }: Pick<AmplitudeSubject, 'ids' | 'groupTypes'>,
): string | undefined {
  const groups = asFields(record['group_properties']);
  for (const type of Object.keys(groups ?? {})) {
    if ((groupTypes && !groupTypes.has(type)) || !ids.isGroupType(type)) continue;
    for (const key of Object.keys(asFields(groups?.[type]) ?? {})) {
      const long = readLongGroupKey(key, ids);
      if (long !== undefined) return long;
    }
  }
  return undefined;
}

/**
 * `{ type: [value, …] }`. The destination takes one group of a type on an event: the first; what is
 * beyond, and types that the manifest does not name, is kept as exported.
 */
export function readGroups(
  value: unknown,
  { ids, groupTypes }: Pick<AmplitudeSubject, 'ids' | 'groupTypes'>,
): { keys?: Record<string, string>; others?: Record<string, unknown> } {
  const groups = asFields(value);
  if (!groups) return {};
  let keys: Record<string, string> | undefined;
  let others: Record<string, unknown> | undefined;
  for (const type of Object.keys(groups)) {
    const values = groups[type];
    const list: readonly unknown[] = Array.isArray(values) ? values : [values];
    const wanted = (!groupTypes || groupTypes.has(type)) && ids.isGroupType(type);
    const first = wanted ? ids.readSendable(list[0]) : undefined;
    if (first !== undefined) {
      keys ??= {};
      keys[toOwnName(type)] = first;
    }
    const rest = first === undefined ? list.filter((entry) => entry !== null) : list.slice(1);
    if (rest.length > 0) {
      others ??= {};
      others[toOwnName(type)] = rest;
    }
  }
  return { ...(keys ? { keys } : {}), ...(others ? { others } : {}) };
}
