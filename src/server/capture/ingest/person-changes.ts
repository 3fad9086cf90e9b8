import { isJsonObject, type JsonObject, sameJson } from '../../http/json.ts';
import type { IncomingEvent } from '../incoming-event.ts';

type NamedProperties = Pick<IncomingEvent, 'event' | 'properties'>;

/** Facts of a visit that the service copies from any event to its person, latest and first. */
const COPIED_KEYS = `
  $app_build $app_name $app_namespace $app_version $browser $browser_version
  $device_type $current_url $pathname $os $os_version $referring_domain $referrer
  utm_source utm_medium utm_campaign utm_content utm_name utm_term
  gclid gad_source gbraid wbraid fbclid msclkid`
  .trim()
  .split(/\s+/);
const COPIED = new Set(COPIED_KEYS);
const INITIAL_KEYS: readonly (readonly [string, string])[] = COPIED_KEYS.map((key) => [
  key,
  `$initial_${key.replace(/^\$/, '')}`,
]);

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
 * Undefined where the event does not change the person, as hardly any does.
 *
 * @param takenOver Names of properties of merged persons.
 * @default takenOver none
 */
export function findChanges(
  known: ReadonlyMap<string, unknown>,
  event: NamedProperties,
  takenOver: ReadonlySet<string> = NONE,
): ChangedValues | undefined {
  if (!isWorthwhile(known, event)) return undefined;
  const { properties } = event;
  const values = new Map<string, unknown>();
  const enter = (key: string, value: unknown) => {
    if (known.get(key) !== value || values.has(key) || takenOver.has(key)) values.set(key, value);
  };
  // What the sender sets takes precedence over what is copied from the visit.
  for (const [key, initialKey] of INITIAL_KEYS) {
    const value = properties[key];
    if (value !== undefined && !known.has(initialKey)) values.set(initialKey, value);
  }
  const setOnce = toObject(properties['$set_once']);
  for (const key in setOnce) if (!known.has(key)) values.set(key, setOnce[key]);
  for (const key of COPIED_KEYS) {
    const value = properties[key];
    if (value !== undefined) enter(key, value);
  }
  const set = toObject(properties['$set']);
  for (const key in set) enter(key, set[key]);
  for (const key of unsetKeys(properties['$unset'])) enter(key, undefined);
  return values;
}

export function applyChanges(properties: Map<string, unknown>, changes: ChangedValues): void {
  for (const [key, value] of changes) {
    if (value === undefined) properties.delete(key);
    else properties.set(key, value);
  }
}

/**
 * A person is not rewritten for every page they open: a visit fact that merely differs waits until
 * something else changes, unless the event is about the person.
 */
function isWorthwhile(person: ReadonlyMap<string, unknown>, { event, properties }: NamedProperties): boolean {
  if (WITHOUT_PERSON_CHANGES.has(event)) return false;
  const aboutPerson = PERSON_EVENTS.has(event);
  const set = toObject(properties['$set']);
  const differs = (key: string, value: unknown) => !sameJson(person.get(key), value);
  for (const [key, initialKey] of INITIAL_KEYS) {
    const value = properties[key];
    if (value === undefined) continue;
    if (!person.has(initialKey) || !person.has(key)) return true;
    if (aboutPerson && !Object.hasOwn(set, key) && differs(key, value)) return true;
  }
  for (const key in toObject(properties['$set_once'])) if (!person.has(key)) return true;
  for (const key in set) {
    if (!person.has(key)) return true;
    if ((aboutPerson || !isVisitFact(key)) && differs(key, set[key])) return true;
  }
  return unsetKeys(properties['$unset']).some((key) => person.has(key));
}

const NO_KEYS: readonly string[] = [];
const NONE: ReadonlySet<string> = new Set();
const NOTHING: JsonObject = {};
const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : NOTHING);

const isVisitFact = (key: string) => COPIED.has(key) || key.startsWith('$geoip_');

export const toProperties = (object: JsonObject): Map<string, unknown> => new Map(Object.entries(object));
