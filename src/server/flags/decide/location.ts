import { readFileSync } from 'node:fs';
import { type CityResponse, Reader } from 'mmdb-lib';
import { ConfigError, getMessage } from '../../../lib/errors.ts';
import type { JsonObject } from '../../http/json.ts';

/** Properties of the place of an address; none where it is not known. */
export type Locations = (address: string) => JsonObject;

/**
 * Looks addresses up in a file in MaxMind's format (GeoLite2 City and the like).
 * https://maxmind.github.io/MaxMind-DB/
 *
 * @throws ConfigError for a file that cannot be read
 */
export function openLocations(path: string): Locations {
  const reader = openReader(path);
  return (address) => {
    const found = isThisMachine(address) ? null : reader.get(address);
    return found === null ? {} : toProperties(found);
  };
}

function openReader(path: string): Reader<CityResponse> {
  try {
    return new Reader<CityResponse>(readFileSync(path));
  } catch (cause) {
    throw new ConfigError(
      `GEOIP_DB: ${path} cannot be read as a MaxMind database (.mmdb): ${getMessage(cause)}`,
      cause,
    );
  }
}

/** A request from it says nothing of a visitor. */
const isThisMachine = (address: string): boolean => /^(?:127\.|::1$|::ffff:127\.)/.test(address);

/** The names that the service gives them. What the file does not know is absent. */
function toProperties({ city, country, continent, postal, location }: CityResponse): JsonObject {
  const properties = {
    $geoip_city_name: city?.names.en,
    $geoip_country_name: country?.names.en,
    $geoip_country_code: country?.iso_code,
    $geoip_continent_name: continent?.names.en,
    $geoip_continent_code: continent?.code,
    $geoip_postal_code: postal?.code,
    $geoip_time_zone: location?.time_zone,
  };
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
