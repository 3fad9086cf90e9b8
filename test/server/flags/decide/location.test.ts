import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigError } from '../../../../src/lib/errors.ts';
import { buildApi } from '../../../../src/server/app.ts';
import { openLocations } from '../../../../src/server/flags/decide/location.ts';
import { createTestApi } from '../../../support/api.ts';
import { onEveryDatabase, silent } from '../../../support/databases.ts';
import { writeMmdb } from '../../../support/mmdb.ts';
import { addFlag } from '../flag-lab.ts';

const LONDON = {
  city: { names: { en: 'London' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'GB', names: { en: 'United Kingdom' } },
  location: { time_zone: 'Europe/London' },
  postal: { code: 'EC1' },
};

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-mmdb-'));
  file = join(folder, 'city.mmdb');
  const france = { country: { iso_code: 'FR', names: { en: 'France' } } };
  await writeFile(file, writeMmdb({ '81.2.69.0/24': LONDON, '2.0.0.0/8': france, '127.0.0.0/8': france }));
});
afterAll(() => rm(folder, { recursive: true }));

test('the place of an address is what the file knows of it', () => {
  const locate = openLocations(file);
  expect(locate('81.2.69.160')).toEqual({
    $geoip_city_name: 'London',
    $geoip_country_name: 'United Kingdom',
    $geoip_country_code: 'GB',
    $geoip_continent_name: 'Europe',
    $geoip_continent_code: 'EU',
    $geoip_postal_code: 'EC1',
    $geoip_time_zone: 'Europe/London',
  });
  expect(locate('2.1.2.3')).toEqual({ $geoip_country_code: 'FR', $geoip_country_name: 'France' });
  expect(locate('9.9.9.9')).toEqual({});
  expect(locate('127.0.0.1')).toEqual({});
});

test('a file that is none is a mistake of the setting', () => {
  expect(() => openLocations(join(folder, 'none.mmdb'))).toThrow(ConfigError);
  expect(() => openLocations(new URL(import.meta.url).pathname)).toThrow(/^GEOIP_DB: .* MaxMind database/);
});

onEveryDatabase('decisions by place', (db) => {
  test('use the address of the visitor, below what the request gives', async () => {
    const { project } = await createTestApi(db());
    const app = buildApi({ db: db(), log: silent, locations: openLocations(file) });
    const british = {
      groups: [{ properties: [{ key: '$geoip_country_code', value: 'GB', type: 'person' }] }],
    };
    await addFlag(db(), project.id, 'british', british);
    const decide = async (headers: Record<string, string>, more: object = {}) => {
      const response = await app.request('/decide?v=3', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ api_key: project.projectKey, distinct_id: 'ada', ...more }),
      });
      return ((await response.json()) as { featureFlags: Record<string, boolean> }).featureFlags['british'];
    };
    const london = '81.2.69.160';
    expect(await decide({})).toBe(false);
    expect(await decide({ 'x-forwarded-for': `${london}, 10.0.0.1` })).toBe(true);
    expect(await decide({ http_x_forwarded_for: `${london}:4711` })).toBe(true);
    expect(await decide({ http_x_forwarded_for: '2.1.2.3', 'x-forwarded-for': london })).toBe(false);
    expect(await decide({ http_x_forwarded_for: london }, { geoip_disable: true })).toBe(false);
    const given = { person_properties: { $geoip_country_code: 'FR' } };
    expect(await decide({ http_x_forwarded_for: london }, given)).toBe(false);
  });
});
