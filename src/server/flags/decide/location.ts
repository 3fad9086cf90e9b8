import { readFileSync } from 'node:fs';
import type { Context } from 'hono';
import { type CityResponse, Reader } from 'mmdb-lib';
import { ConfigError, getMessage } from '../../../lib/errors.ts';
import { getSender } from '../../capture/request/sender.ts';
import type { JsonObject } from '../../http/json.ts';

/** Properties of the place that a request comes from; none where that is not known. */
export type FindLocation = (c: Context) => JsonObject;

export const findNoLocation: FindLocation = () => ({});

/**
 * Looks addresses up in a file in MaxMind's format (GeoLite2 City and the like).
 * https://maxmind.github.io/MaxMind-DB/
 *
 * @throws ConfigError for a file that cannot be read
 */
export function openLocations(path: string): FindLocation {
  const reader = openReader(path);
  return (c) => {
    const address = findClient(c);
    const found = address === undefined ? null : reader.get(address);
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

/** This machine is nowhere: a request from it says nothing of a visitor. */
function findClient(c: Context): string | undefined {
  const address = getSender(c);
  return address === undefined || /^(?:127\.|::1$|::ffff:127\.)/.test(address) ? undefined : address;
}

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
