import { expect, it } from 'vitest';
import { ConfigError } from '../../../../src/lib/errors.ts';
import { PropertyList } from '../../../../src/lib/json/property-list.ts';
import { openPlaces } from '../../../../src/lib/places.ts';
import { createEnrichWeb } from '../../../../src/sources/mapping/web/enrich-web.ts';
import { writeMmdb } from '../../../support/mmdb.ts';

const LONDON = {
  city: { names: { en: 'London' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
  location: { time_zone: 'Europe/London' },
  postal: { code: 'EC1' },
};
const findPlace = openPlaces(
  writeMmdb({
    '81.2.69.0/24': LONDON,
    '2.0.0.0/8': { country: { iso_code: 'FR', names: { en: 'France' } } },
  }),
  'source.geoip',
  'city.mmdb',
);

const COUNTRY = {
  $geoip_country_name: 'United Kingdom',
  $geoip_country_code: 'GB',
  $geoip_continent_name: 'Europe',
  $geoip_continent_code: 'EU',
};
const CITY = { $geoip_city_name: 'London', $geoip_postal_code: 'EC1', $geoip_time_zone: 'Europe/London' };

function enrich(given: Record<string, unknown>, settings: Parameters<typeof createEnrichWeb>[0]) {
  const properties = new PropertyList();
  for (const [name, value] of Object.entries(given)) properties.set(name, value);
  createEnrichWeb(settings)(properties, false);
  return properties.toObject();
}

const IP = { $ip: '81.2.69.160' };

// Names of the properties: https://posthog.com/docs/cdp/geoip-enrichment
it.each([
  ['an address that the file knows', IP, { ...COUNTRY, ...CITY }],
  [
    'one of which it knows the country',
    { $ip: ' 2.3.4.5 ' },
    { $geoip_country_name: 'France', $geoip_country_code: 'FR' },
  ],
  ['one that it does not know', { $ip: '198.51.100.7' }, {}],
  ['what is no address', { $ip: 'EMPTY' }, {}],
  ['an event without one', {}, {}],
  [
    'the city that the export names, and its country',
    { ...IP, $geoip_city_name: 'London' },
    { ...COUNTRY, ...CITY },
  ],
  [
    'another city of the same country',
    { ...IP, $geoip_city_name: 'Leeds', $geoip_country_name: 'United Kingdom' },
    COUNTRY,
  ],
  ['another country', { ...IP, $geoip_country_name: 'Ireland' }, {}],
])('completes the place of %s', (_what, given, added) => {
  expect(enrich(given, { findPlace })).toEqual({ ...given, ...added, $geoip_disable: true });
});

it('finds the place of an address that is left behind', () => {
  expect(enrich(IP, { findPlace, dropIp: true })).toEqual({ ...COUNTRY, ...CITY, $geoip_disable: true });
});

it('leaves places to the service only where the event has the address of the person', () => {
  expect(enrich(IP, { geoip: 'destination' })).toEqual(IP);
  expect(enrich({}, { geoip: 'destination' })).toEqual({ $geoip_disable: true });
  expect(enrich(IP, { geoip: 'destination', dropIp: true })).toEqual({ $geoip_disable: true });
});

it('takes no other bytes for a file of places, and no text for an address', () => {
  expect(() => openPlaces(Buffer.from('places'), 'source.geoip', 'city.mmdb')).toThrow(ConfigError);
  for (const text of [
    '',
    '81.2.69',
    '1.2.3.4.5',
    '999.1.1.1',
    '::1',
    'fe80::1%eth0',
    '\0',
    'x'.repeat(5_000),
  ])
    expect(findPlace(text)).toBeUndefined();
});
