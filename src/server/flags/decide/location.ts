import { readFileSync } from 'node:fs';
import { ConfigError, getMessage } from '../../../lib/errors.ts';
import { openPlaces } from '../../../lib/places.ts';
import type { JsonObject } from '../../http/json.ts';

/** Properties of the place of an address; none where it is not known. */
export type Locations = (address: string) => JsonObject;

const SETTING = 'GEOIP_DB';

/** Throws ConfigError for a file that cannot be read, or is none of places. */
export function openLocations(path: string): Locations {
  const findPlace = openPlaces(readFile(path), SETTING, path);
  return (address) => {
    const place = isThisMachine(address) ? undefined : findPlace(address);
    if (place === undefined) return {};
    return Object.fromEntries(Object.entries(place).filter(([name]) => DECIDED_BY.has(name)));
  };
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new ConfigError(`${SETTING}: ${path} cannot be read: ${getMessage(cause)}`, cause);
  }
}

/** A request from it says nothing of a visitor. */
const isThisMachine = (address: string): boolean => /^(?:127\.|::1$|::ffff:127\.)/.test(address);

/** What the service's decisions know of a place: less than its events do. */
const DECIDED_BY: ReadonlySet<string> = new Set([
  '$geoip_city_name',
  '$geoip_country_name',
  '$geoip_country_code',
  '$geoip_continent_name',
  '$geoip_continent_code',
  '$geoip_postal_code',
  '$geoip_time_zone',
]);
