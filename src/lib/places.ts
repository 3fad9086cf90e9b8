import { type CityResponse, Reader } from 'mmdb-lib';
import { ConfigError, getMessage } from './errors.ts';
import { remember } from './remember.ts';

/** The place of an address under the names that the service gives its parts; those that are not known are absent. */
export type Place = Readonly<Record<string, string | number>>;

/** Undefined where the place of an address is not known. */
export type FindPlace = (address: string) => Place | undefined;

const REMEMBERED = 5_000;

/**
 * Finds places in the bytes of a file in MaxMind's format (GeoLite2 City and the like).
 * https://maxmind.github.io/MaxMind-DB/
 *
 * @param setting Where the file was named, for messages
 * @param name For messages
 * @throws ConfigError for bytes that are no such file
 */
export function openPlaces(bytes: Buffer, setting: string, name: string): FindPlace {
  let reader: Reader<CityResponse>;
  try {
    reader = new Reader<CityResponse>(bytes);
  } catch (cause) {
    throw new ConfigError(
      `${setting}: ${name} cannot be read as a MaxMind database (.mmdb): ${getMessage(cause)}`,
      cause,
    );
  }
  return remember(REMEMBERED, (address) => {
    if (!ADDRESS.test(address)) return undefined;
    try {
      const found = reader.get(address);
      return found === null ? undefined : toPlace(found);
    } catch {
      return undefined; // no address after all
    }
  });
}

/** What the reader may be asked for: IPv4 or IPv6. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]*:[\da-f:.]+)$/i;

/** https://posthog.com/docs/cdp/geoip-enrichment */
function toPlace(found: Partial<CityResponse>): Place | undefined {
  const { city, country, continent, postal, location, subdivisions = [] } = found;
  const [first, second] = subdivisions;
  const place = {
    $geoip_city_name: city?.names?.en,
    $geoip_country_name: country?.names?.en,
    $geoip_country_code: country?.iso_code,
    $geoip_continent_name: continent?.names?.en,
    $geoip_continent_code: continent?.code,
    $geoip_postal_code: postal?.code,
    $geoip_latitude: location?.latitude,
    $geoip_longitude: location?.longitude,
    $geoip_time_zone: location?.time_zone,
    $geoip_subdivision_1_code: first?.iso_code,
    $geoip_subdivision_1_name: first?.names?.en,
    $geoip_subdivision_2_code: second?.iso_code,
    $geoip_subdivision_2_name: second?.names?.en,
  };
  const known = Object.entries(place).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : (Object.fromEntries(known) as Place);
}

/** Parts of a place that hold for all of its country. */
export const COUNTRY_PARTS: ReadonlySet<string> = new Set([
  '$geoip_country_name',
  '$geoip_country_code',
  '$geoip_continent_name',
  '$geoip_continent_code',
]);
