import { type Heard, toHeard } from '../../contract/heard.ts';
import { HEARD_TIME } from '../../contract/heard-time.ts';
import { type IdentityFact, toPersonOf } from '../../contract/identity-fact.ts';
import { readField } from '../../lib/json/record-view.ts';
import { type IdRules, readLongGroupKey, toHeardIds } from '../mapping/distinct-id.ts';
import { ID_MAX_LENGTH, readText } from '../mapping/identity.ts';
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

/** Of a project, as an export may hold several of them, and each counts its users by itself. */
export function readPerson(record: Fields, ids: IdRules): string | undefined {
  const person = ids.read(record['amplitude_id']);
  const project = readText(record['app']);
  return person === undefined || project === undefined ? person : toPersonOf(person, project);
}

/** What a record says about its ids whatever else is wrong with it; calls about groups alone say nothing of them. */
export function createHear({ ids, takesAmplitudeId }: Pick<AmplitudeRules, 'ids' | 'takesAmplitudeId'>) {
  const heardIds = toHeardIds(ids);
  return (record: Fields): Heard | undefined => {
    const type = readText(record['event_type']) ?? '';
    if (type === '$groupidentify') return undefined;
    const person = takesAmplitudeId ? undefined : readPerson(record, ids);
    const into = type === '' && !takesAmplitudeId ? ids.read(record['merged_amplitude_id']) : undefined;
    if (into !== undefined) {
      const merged = ids.read(record['amplitude_id']);
      return merged === undefined
        ? undefined
        : toHeard({ facts: [{ kind: 'join', person: merged, into, time: HEARD_TIME }] });
    }
    const userId = heardIds.readSendable(record['user_id']);
    const deviceId = heardIds.readSendable(record['device_id']);
    const id = userId ?? deviceId;
    const isUser = userId !== undefined;
    return toHeard({
      facts: readPair({ time: HEARD_TIME, userId, deviceId }),
      userId,
      seen: id === undefined ? undefined : { person, id, isUser, time: HEARD_TIME },
    });
  };
}
