import { isJsonObject, type JsonObject, sameJson } from '../../http/json.ts';
import type { IncomingEvent } from '../incoming-event.ts';

/** The changes of one event to its person's properties. */
export interface PropertyChanges {
  readonly set: ReadonlyMap<string, unknown>;
  readonly setOnce: ReadonlyMap<string, unknown>;
  readonly unset: readonly string[];
}

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

function toPersonChanges({ event, properties }: IncomingEvent): PropertyChanges {
  const set = new Map<string, unknown>();
  const setOnce = new Map<string, unknown>();
  if (WITHOUT_PERSON_CHANGES.has(event)) return { set, setOnce, unset: [] };
  for (const [key, initialKey] of INITIAL_KEYS) {
    const value = properties[key];
    if (value === undefined) continue;
    set.set(key, value);
    setOnce.set(initialKey, value);
  }
  // What the sender sets takes precedence over what is copied from the visit.
  addAll(setOnce, properties['$set_once']);
  addAll(set, properties['$set']);
  return { set, setOnce, unset: unsetKeys(properties['$unset']) };
}

function addAll(target: Map<string, unknown>, source: unknown): void {
  if (isJsonObject(source)) for (const [key, value] of Object.entries(source)) target.set(key, value);
}

function unsetKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((key) => typeof key === 'string');
  return isJsonObject(value) ? Object.keys(value) : [];
}

/** `$set_once` where there is nothing yet, then `$set`, then `$unset`; in order of arrival, not of time. */
export function applyChanges(properties: Map<string, unknown>, event: IncomingEvent): boolean {
  const changes = toPersonChanges(event);
  if (!isWorthwhile(properties, changes, PERSON_EVENTS.has(event.event))) return false;
  for (const [key, value] of changes.setOnce) if (!properties.has(key)) properties.set(key, value);
  for (const [key, value] of changes.set) properties.set(key, value);
  for (const key of changes.unset) properties.delete(key);
  return true;
}

/**
 * A person is not rewritten for every page they open: a visit fact that merely differs waits until
 * something else changes, unless the event is about the person.
 */
function isWorthwhile(
  properties: ReadonlyMap<string, unknown>,
  { set, setOnce, unset }: PropertyChanges,
  aboutPerson: boolean,
): boolean {
  for (const key of setOnce.keys()) if (!properties.has(key)) return true;
  for (const [key, value] of set) {
    if (!properties.has(key)) return true;
    if ((aboutPerson || !isVisitFact(key)) && !sameJson(properties.get(key), value)) return true;
  }
  return unset.some((key) => properties.has(key));
}

const isVisitFact = (key: string) => COPIED.has(key) || key.startsWith('$geoip_');

export const toProperties = (object: JsonObject): Map<string, unknown> => new Map(Object.entries(object));
