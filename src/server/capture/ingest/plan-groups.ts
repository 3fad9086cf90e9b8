import { stringifyMap } from '../../../lib/json/stringify-json.ts';
import { isJsonObject, toText, writtenLength } from '../../http/json.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';

/** A project has at most this many group types; what comes later is ignored. */
const MAX_GROUP_TYPES = 5;
/** Of types and of keys; longer ones are ignored. */
const MAX_KEY_LENGTH = 400;
/**
 * Properties of a group that are stored together. An update that finds no room is left out, so what is large must not
 * take along what is small, and the result hardly depends on how events are cut into requests.
 */
const MAX_TOGETHER = 32 * 1024;

/** SDKs send `$groupidentify`, the contract has `$group_identify`. */
const GROUP_EVENTS = new Set(['$groupidentify', '$group_identify']);

export interface GroupUpdate {
  readonly typeIndex: number;
  readonly key: string;
  /** JSON text, merged over what the group has, key by key. */
  readonly propertiesText: string;
  /** The earliest event of the batch that names the group. */
  readonly createdAt: string;
}

export interface GroupsPlan {
  /** Types seen for the first time; their index follows from their place. */
  readonly newTypes: readonly { readonly groupType: string; readonly index: number }[];
  /** To be stored in this order. A group comes more than once where its properties are many. */
  readonly groups: readonly GroupUpdate[];
  /** Properties `$group_<index>` that an event gains. */
  readonly marks: ReadonlyMap<IncomingEvent, ReadonlyMap<string, string>>;
}

interface OpenUpdate {
  readonly typeIndex: number;
  readonly key: string;
  readonly properties: Map<string, unknown>;
  /** At least that of the properties as Postgres writes them. */
  length: number;
  createdAt: string;
}

/** Changes what a group is, and not only who belongs to it. */
export const describesGroup = ({ event }: IncomingEvent) => GROUP_EVENTS.has(event);

export const hasGroups = ({ event, properties }: IncomingEvent) =>
  GROUP_EVENTS.has(event) || isJsonObject(properties['$groups']);

/** What a batch does to groups, given the group types known before, in order of their index. */
export function planGroups(events: readonly IncomingEvent[], knownTypes: readonly string[]): GroupsPlan {
  const types = [...knownTypes];
  const groups: OpenUpdate[] = [];
  const open = new Map<string, OpenUpdate>();
  const marks = new Map<IncomingEvent, Map<string, string>>();

  function findIndex(groupType: string): number | undefined {
    const index = types.indexOf(groupType);
    if (index !== -1) return index;
    return types.length < MAX_GROUP_TYPES ? types.push(groupType) - 1 : undefined;
  }

  for (const event of events) {
    for (const [groupType, key] of listMemberships(event)) {
      const index = findIndex(groupType);
      if (index === undefined) continue;
      const mark = marks.get(event) ?? new Map<string, string>();
      marks.set(event, mark.set(`$group_${index}`, key));
    }
    const description = readDescription(event);
    const typeIndex = description && findIndex(description.groupType);
    if (description === undefined || typeIndex === undefined) continue;
    const { key, properties } = description;
    const id = `${typeIndex} ${key}`;
    const values = Object.entries(properties);
    const length = writtenLength(stringifyMap(new Map(values)));
    let group = open.get(id);
    if (group === undefined || group.length + length > MAX_TOGETHER) {
      group = { typeIndex, key, properties: new Map(), length: 0, createdAt: event.timestamp };
      open.set(id, group);
      groups.push(group);
    }
    if (event.timestamp < group.createdAt) group.createdAt = event.timestamp;
    if (length > MAX_PROFILE_CHARACTERS) continue;
    for (const [name, value] of values) group.properties.set(name, value);
    group.length += length;
  }
  return {
    newTypes: types
      .slice(knownTypes.length)
      .map((groupType, at) => ({ groupType, index: knownTypes.length + at })),
    groups: groups.map(({ properties, length: _, ...group }) => ({
      ...group,
      propertiesText: stringifyMap(properties),
    })),
    marks,
  };
}

function listMemberships({ properties }: IncomingEvent): [string, string][] {
  const groups = properties['$groups'];
  if (!isJsonObject(groups)) return [];
  return Object.entries(groups).flatMap(([groupType, value]): [string, string][] => {
    const key = readKey(value);
    const nameable = groupType !== '' && groupType.length <= MAX_KEY_LENGTH;
    return nameable && key !== undefined ? [[groupType, key]] : [];
  });
}

function readDescription({ event, properties }: IncomingEvent) {
  if (!GROUP_EVENTS.has(event)) return undefined;
  const groupType = readKey(properties['$group_type']);
  const key = readKey(properties['$group_key']);
  if (groupType === undefined || key === undefined) return undefined;
  const set = properties['$group_set'];
  return { groupType, key, properties: isJsonObject(set) ? set : {} };
}

function readKey(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const key = toText(value);
  return key === '' || key.length > MAX_KEY_LENGTH ? undefined : key;
}
