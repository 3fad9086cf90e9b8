import { JsonToken } from '../../../lib/json/json-token.ts';
import { markNames, type PropertyList, type PropertyName, pinName } from '../../../lib/json/property-list.ts';
import { COUNTRY_PARTS, type FindPlace } from '../../../lib/places.ts';
import { remember } from '../../../lib/remember.ts';
import { DESTINATION } from '../../common-options.ts';
import { CAMPAIGN_PARAMETERS } from './campaign.ts';
import { findTypeOfSystem, isPlatform, readDeviceType } from './device-type.ts';
import { dropMeaningless, hasMeaning } from './meaning.ts';
import { DIRECT, WEB_RULES, type WebRule } from './rules.ts';

/** What of a source's options the layer acts by. */
export interface WebSettings {
  /** Leaves the address of the visitor behind, once its place is found. @default false */
  readonly dropIp?: boolean | undefined;
  /** `destination`: the service looks for the place of `$ip`. Else a file of places was opened, or is not wanted. */
  readonly geoip?: string | undefined;
  readonly findPlace?: FindPlace | undefined;
}

/**
 * Completes the properties of an event, once the source has set what its record says. `namesReferrer`: the record
 * would name the page that led to this one, so that one without a referrer was opened directly.
 */
export type EnrichWeb = (properties: PropertyList, namesReferrer: boolean) => void;

/**
 * The one layer that all sources share: whatever a record holds, its properties come out as a live client of the
 * destination would have sent them. Pure, and never throws: see the table in rules.ts.
 */
export function createEnrichWeb({ dropIp = false, geoip, findPlace }: WebSettings): EnrichWeb {
  const isLeftToDestination = geoip === DESTINATION && !dropIp;
  return (properties, namesReferrer) => {
    dropMeaningless(properties, DESCRIBING);
    if (properties.mayHave(CAMPAIGN)) dropMeaningless(properties, CAMPAIGN_NAMES);
    if (namesReferrer && properties.has(CURRENT_URL)) setDirect(properties);
    for (const apply of APPLY_RULES) apply(properties);
    setDeviceType(properties);
    if (findPlace) setPlace(properties, findPlace);
    if (dropIp) properties.delete(IP);
    // Without the address of the person the service would look for that of the import.
    if (!isLeftToDestination || !properties.has(IP)) properties.set(GEOIP_DISABLE, true);
  };
}

const CURRENT_URL = pinName('$current_url');
const REFERRER = pinName('$referrer');
const REFERRING_DOMAIN = pinName('$referring_domain');
const DEVICE_TYPE = pinName('$device_type');
const DEVICE = pinName('$device');
const DEVICE_MODEL = pinName('$device_model');
const OS = pinName('$os');
const IP = pinName('$ip');
const COUNTRY_NAME = pinName('$geoip_country_name');
const COUNTRY_CODE = pinName('$geoip_country_code');
const CITY_NAME = pinName('$geoip_city_name');
const SUBDIVISION_NAME = pinName('$geoip_subdivision_1_name');
const GEOIP_DISABLE = pinName('$geoip_disable');

/** What is better left out than `Unknown`. */
const DESCRIBING: readonly PropertyName[] = [
  ...['$referrer', '$referring_domain', '$browser', '$browser_version', '$os', '$os_version', '$device'],
  ...['$device_type', '$device_model', '$device_manufacturer', '$network_carrier', '$locale'],
  ...['$current_url', '$host', '$pathname', '$app_version', '$browser_language', '$timezone'],
  ...['$geoip_city_name', '$geoip_subdivision_1_name', '$geoip_country_name', '$geoip_country_code'],
].map(pinName);
const CAMPAIGN_NAMES: readonly PropertyName[] = CAMPAIGN_PARAMETERS.map(pinName);
/** Few events have any of them. */
const CAMPAIGN = markNames(CAMPAIGN_PARAMETERS);

/** Texts that each rule remembers what they came to. */
const REMEMBERED = 2_000;

interface Member {
  readonly name: PropertyName;
  readonly value: unknown;
  readonly replaces: boolean;
  /** What stands before the port of a host: a value that is just this lacks it. */
  readonly withoutPort: string | undefined;
}

function compileRule({
  from,
  derive,
  respells = [],
  addsPort = [],
}: WebRule): (properties: PropertyList) => void {
  const names = from.map(pinName);
  const sources = markNames(from);
  const toMembers = remember(REMEMBERED, (text): readonly Member[] =>
    Object.entries(derive(text))
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({
        name: pinName(name),
        value,
        replaces: respells.includes(name),
        withoutPort: addsPort.includes(name) ? PORT.exec(String(value))?.[1] : undefined,
      })),
  );
  return (properties) => {
    if (!properties.mayHave(sources)) return;
    for (const name of names) {
      const text = readText(properties, name);
      if (text === undefined) continue;
      for (const { name, value, replaces, withoutPort } of toMembers(text)) {
        const isLacking =
          !hasMeaning(properties.getText(name)) ||
          (withoutPort !== undefined && readText(properties, name)?.toLowerCase() === withoutPort);
        if (replaces || isLacking) properties.set(name, value);
      }
      return;
    }
  };
}

const PORT = /^(.+):\d+$/;

/** https://github.com/PostHog/posthog-js: a page without a referrer has this one. */
function setDirect(properties: PropertyList): void {
  if (hasMeaning(properties.getText(REFERRER)) || hasMeaning(properties.getText(REFERRING_DOMAIN))) return;
  properties.set(REFERRER, DIRECT);
}

/** One set for all sources: what texts came to is remembered for each of them alike. */
const APPLY_RULES = WEB_RULES.map(compileRule);

/** What the vendor says of a place is kept, and only completed where the file means the same place. */
function setPlace(properties: PropertyList, findPlace: FindPlace): void {
  const address = readText(properties, IP);
  const place = address === undefined ? undefined : findPlace(address.trim());
  if (place === undefined) return;
  const isSame = (name: PropertyName) => {
    const given = readText(properties, name);
    return given === undefined || given === place[name.text];
  };
  if (!isSame(COUNTRY_NAME) || !isSame(COUNTRY_CODE)) return;
  const isSameCity = isSame(CITY_NAME) && isSame(SUBDIVISION_NAME);
  for (const part of Object.keys(place)) {
    if (!isSameCity && !COUNTRY_PARTS.has(part)) continue;
    const name = pinName(part);
    if (!properties.has(name)) properties.set(name, place[part]);
  }
}

/** A kind of device, never a platform; what a customer calls a kind stays. */
function setDeviceType(properties: PropertyList): void {
  const given = readText(properties, DEVICE_TYPE);
  if (given !== undefined) {
    const kind = readDeviceType(given);
    if (kind === given) return;
    if (kind === undefined && !isPlatform(given)) return;
  }
  const device = readText(properties, DEVICE);
  const model = readText(properties, DEVICE_MODEL);
  const kind = chooseDeviceType(given, device, model, readText(properties, OS));
  if (kind !== undefined) properties.set(DEVICE_TYPE, kind);
  else if (given !== undefined) properties.delete(DEVICE_TYPE);
}

/** The kind that the first of these texts says, else the one of the system that the first of them names. */
export function chooseDeviceType(
  ...texts: readonly [string | undefined, string | undefined, string | undefined, string | undefined]
) {
  for (const text of texts) {
    const kind = text === undefined ? undefined : readDeviceType(text);
    if (kind !== undefined) return kind;
  }
  for (const text of texts) {
    const kind = text === undefined ? undefined : findTypeOfSystem(text);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function readText(properties: PropertyList, name: PropertyName): string | undefined {
  const value = properties.getText(name);
  if (!hasMeaning(value)) return undefined;
  const text = value instanceof JsonToken ? value.read() : value;
  return typeof text === 'string' ? text : undefined;
}
