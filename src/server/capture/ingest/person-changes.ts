import { isJsonObject, type JsonObject, sameJson } from '../../http/json.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { COPIED_KEYS } from '../read-properties.ts';

type NamedProperties = Pick<IncomingEvent, 'event' | 'properties'>;

/** Name of the person's first value, by the name in the event. */
const INITIAL_KEYS: ReadonlyMap<string, string> = new Map(
  COPIED_KEYS.map((key) => [key, `$initial_${key.replace(/^\$/, '')}`]),
);

/** Events about a person: these write whatever differs. */
const PERSON_EVENTS = new Set(['$identify', '$create_alias', '$merge_dangerously', '$set']);
const WITHOUT_PERSON_CHANGES = new Set(['$exception', '$$heatmap']);

function unsetKeys(value: unknown): readonly string[] {
  if (value === undefined) return NO_KEYS;
  if (Array.isArray(value)) return value.filter((key) => typeof key === 'string');
  return isJsonObject(value) ? Object.keys(value) : [];
}

/** New values by property; undefined for one that is removed. */
export type ChangedValues = ReadonlyMap<string, unknown>;

/**
 * `$set_once` where there is nothing yet, then `$set`, then `$unset`; in order of arrival, not of time. A text, number
 * or other scalar that the person has already is left out, unless it was taken over from a merged person: what an event
 * sets is the person's own.
 *
 * Undefined where the event does not change the person. A person is not rewritten for every page they open: a visit
 * fact that merely differs waits until something else changes, unless the event is about the person.
 *
 * @param takenOver Names of properties of merged persons.
 * @default takenOver none
 */
export function findChanges(
  known: ReadonlyMap<string, unknown>,
  { event, properties }: NamedProperties,
  takenOver: ReadonlySet<string> = NONE,
): ChangedValues | undefined {
  if (WITHOUT_PERSON_CHANGES.has(event)) return undefined;
  const aboutPerson = PERSON_EVENTS.has(event);
  const facts = readVisitFacts(properties);
  const set = toObject(properties['$set']);
  const values = new Map<string, unknown>();
  // What the sender sets takes precedence over what is copied from the visit.
  for (const { initialKey, value } of facts) if (!known.has(initialKey)) values.set(initialKey, value);
  const setOnce = toObject(properties['$set_once']);
  for (const key in setOnce) if (!known.has(key)) values.set(key, setOnce[key]);
  let isWorthwhile = values.size > 0;
  const enter = (key: string, value: unknown, mayWait: boolean) => {
    const before = known.get(key);
    if (before === value && !values.has(key) && !takenOver.has(key)) return;
    values.set(key, value);
    isWorthwhile ||= before === undefined || (!mayWait && !sameJson(before, value));
  };
  for (const { key, value } of facts) enter(key, value, !aboutPerson || Object.hasOwn(set, key));
  for (const key in set) enter(key, set[key], !aboutPerson && isVisitFact(key));
  for (const key of unsetKeys(properties['$unset'])) enter(key, undefined, false);
  return isWorthwhile ? values : undefined;
}

interface VisitFact {
  readonly key: string;
  readonly initialKey: string;
  readonly value: unknown;
}

function readVisitFacts(properties: JsonObject): VisitFact[] {
  const facts: VisitFact[] = [];
  for (const key in properties) {
    const initialKey = INITIAL_KEYS.get(key);
    if (initialKey !== undefined) facts.push({ key, initialKey, value: properties[key] });
  }
  return facts;
}

export function applyChanges(properties: Map<string, unknown>, changes: ChangedValues): void {
  for (const [key, value] of changes) {
    if (value === undefined) properties.delete(key);
    else properties.set(key, value);
  }
}

const NO_KEYS: readonly string[] = [];
const NONE: ReadonlySet<string> = new Set();
const NOTHING: JsonObject = {};
const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : NOTHING);

const isVisitFact = (key: string) => INITIAL_KEYS.has(key) || key.startsWith('$geoip_');

export const toProperties = (object: JsonObject): Map<string, unknown> => new Map(Object.entries(object));
