import { DeferredValues, type IdentityFact } from '../../contract/identity-fact.ts';
import { JsonToken, NULL, STRING } from '../../lib/json/json-token.ts';
import type { PropertyName } from '../../lib/json/property-list.ts';
import { readField } from '../../lib/json/record-view.ts';
import type { IdRules } from '../mapping/distinct-id.ts';
import { ID_MAX_LENGTH } from '../mapping/identity.ts';
import { toOwnName, toOwnNames } from '../mapping/properties.ts';
import { asFields, type Fields } from '../mapping/table.ts';

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
export function mapAmplitudeFacts(record: Fields, subject: AmplitudeSubject): IdentityFact[] {
  const { time, distinctId, userId, deviceId } = subject;
  const facts: IdentityFact[] = [];

  if (
    userId !== undefined &&
    deviceId !== undefined &&
    userId !== deviceId &&
    deviceId.length <= ID_MAX_LENGTH
  ) {
    facts.push({ kind: 'pair', anonId: deviceId, userId, time });
  }

  if (distinctId !== undefined) {
    const { set, setOnce } = readUserProperties(readField(record, 'user_properties'));
    if (set || setOnce) facts.push({ kind: 'person', distinctId, time, set, setOnce });
  }

  const groups = asFields(record['group_properties']);
  if (groups) pushGroupFacts(facts, groups, subject);
  return facts;
}

/** Names with the destination's `$`, each made once: a new text would be looked up letter by letter. */
const initialNames = new Map<string, string>();
const INITIAL_NAMES_MAX = 1_000;

function toInitialName(key: string): string {
  let name = initialNames.get(key);
  if (name === undefined) {
    name = `$${key}`;
    if (initialNames.size < INITIAL_NAMES_MAX) initialNames.set(key, name);
  }
  return name;
}

interface UserProperties {
  readonly set?: Fields | DeferredValues | undefined;
  readonly setOnce?: Fields | DeferredValues | undefined;
}

function readUserProperties(value: unknown): UserProperties {
  if (!(value instanceof JsonToken)) {
    const traits = asFields(value);
    return traits ? splitUserProperties(traits) : {};
  }
  if (!value.isPlain) return splitUserProperties(value.read() as Fields);
  const { set, setOnce } = findShape(value);
  const text = value.text.bytes.toString('latin1', value.start, value.end);
  let split: ReturnType<typeof splitUserProperties> | undefined;
  const read = () => {
    split ??= splitUserProperties(JSON.parse(text) as Fields);
    return split;
  };
  return {
    set: set.size > 0 ? new DeferredValues(set, () => read().set ?? {}) : undefined,
    setOnce: setOnce.size > 0 ? new DeferredValues(setOnce, () => read().setOnce ?? {}) : undefined,
  };
}

/** What some user properties are called, which of them are given, and what follows from it. */
interface Shape {
  readonly names: readonly PropertyName[];
  readonly marks: readonly number[];
  readonly set: ReadonlySet<string>;
  readonly setOnce: ReadonlySet<string>;
}

/** Neighbouring records have the same. */
let lastShape: Shape | undefined;

function findShape(token: JsonToken): Shape {
  const { count, names, values } = token.members;
  const last = lastShape;
  if (last?.names.length === count) {
    let at = 0;
    while (at < count && last.names[at] === names[at] && last.marks[at] === toMark(values[at])) at += 1;
    if (at === count) return last;
  }
  const marks = values.slice(0, count).map(toMark);
  // An object with a value of each kind shows which of them count.
  const { set = {}, setOnce = {} } = splitUserProperties(
    Object.fromEntries(marks.map((mark, at) => [names[at]?.text, MARKED[mark]])),
  );
  lastShape = {
    names: names.slice(0, count),
    marks,
    set: new Set(Object.keys(set)),
    setOnce: new Set(Object.keys(setOnce)),
  };
  return lastShape;
}

/** A value of each kind that `splitUserProperties` tells apart. */
const MARKED = [null, 'EMPTY', true] as const;

function toMark(token: JsonToken | undefined): 0 | 1 | 2 {
  if (!token || token.kind === NULL) return 0;
  return token.kind === STRING && token.end - token.start === EMPTY_LENGTH && token.read() === 'EMPTY'
    ? 1
    : 2;
}
const EMPTY_LENGTH = '"EMPTY"'.length;

/** `initial_*` is set once under the destination's `$initial_*`; there `EMPTY` means none. */
function splitUserProperties(traits: Fields): { readonly set?: Fields; readonly setOnce?: Fields } {
  const set: Record<string, unknown> = {};
  let setOnce: Record<string, unknown> | undefined;
  let hasSet = false;
  for (const key of Object.keys(traits)) {
    const value = traits[key];
    if (value === null || value === undefined) continue;
    if (!key.startsWith('initial_')) {
      set[toOwnName(key)] = value;
      hasSet = true;
    } else if (value !== 'EMPTY') {
      setOnce ??= {};
      setOnce[toInitialName(key)] = value;
    }
  }
  return hasSet ? (setOnce ? { set, setOnce } : { set }) : setOnce ? { setOnce } : {};
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
