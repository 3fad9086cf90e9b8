import { describe, expect, it } from 'vitest';
import { toTargetEvent } from '../../../src/contract/event.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { createRandom } from '../../support/seeded-random.ts';
import { countCases, TEST_SEED } from '../../support/test-seed.ts';
import { createMapper } from '../create-mapper.ts';
import { mapText } from './map-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const EVENT = { event_type: 'Opened', user_id: 'u-1', event_time: '2023-10-15 14:30:00', uuid: 'x' };
const RECORD = {
  ...EVENT,
  ...{ price: 2, ip_address: '192.0.2.1', session_id: 1_697_380_000_000, library: 'amplitude-ts/2.11.1' },
  ...{ city: 'Linz', app: 7, device_id: 'd-1', os_name: 'ios', platform: 'iOS' },
};
const OWN = {
  ...{ $price: 1, $device_id: 'x', amplitude_app: 'mine', $os: 'own', $session_id: 'owns', $ip: '8.8.8.8' },
  ...{ $geoip_city_name: 'Graz', $lib: 'mylib', $geoip_disable: false },
};

interface Settings {
  readonly version?: number;
  readonly dropIp?: boolean;
  readonly elementEvents?: 'autocapture';
  readonly userPropertiesOnEvents?: true;
}

const readProperties = (record: Fields, { version, ...options }: Settings = {}): Fields => {
  const outcome = createMapper('amplitude', options, { version })(record);
  if (outcome.kind !== 'mapped') throw new Error(outcome.kind);
  return outcome.events[0]?.properties ?? {};
};
const listKept = (properties: Fields) =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => name.startsWith('source_')));

describe('an own property whose name the record comes to', () => {
  it('is kept beside what the record says', () => {
    const properties = readProperties({ ...RECORD, event_properties: OWN });
    const kept = Object.fromEntries(Object.entries(OWN).map(([name, value]) => [`source_${name}`, value]));
    expect(listKept(properties)).toEqual(kept);
    expect(properties).toMatchObject({
      ...{ $price: 2, $device_id: 'd-1', amplitude_app: 7, $os: 'iOS', $ip: '192.0.2.1' },
      ...{ $geoip_city_name: 'Linz', $lib: 'amplitude-ts', $geoip_disable: true },
      $session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('was lost before version 5, to which migrations are pinned', () => {
    expect(listKept(readProperties({ ...RECORD, event_properties: OWN }, { version: 4 }))).toEqual({});
  });

  it('is not kept twice where both are the same, nor where the record says nothing', () => {
    const own = { $price: 2, $lib: 'amplitude-ts', $geoip_disable: true, $ip: '', $os_version: 'Unknown' };
    expect(listKept(readProperties({ ...RECORD, event_properties: own }))).toEqual({});
    const { $geoip_disable: _, ...others } = OWN;
    const properties = readProperties({ ...EVENT, event_properties: others });
    expect(properties).toMatchObject({ ...others, $geoip_disable: true });
    expect(listKept(properties)).toEqual({});
  });

  it('is not that of the record before', () => {
    const map = createMapper('amplitude');
    map({ ...RECORD, event_properties: OWN });
    const next = map({ ...RECORD, event_properties: { plan: 'free' } });
    expect(next.kind === 'mapped' && listKept(next.events[0]?.properties ?? {})).toEqual({});
  });

  it('takes no other name of the customer’s', () => {
    const own = { $price: 1, source_$price: 'taken' };
    expect(listKept(readProperties({ ...RECORD, event_properties: own }))).toEqual({
      source_$price: 'taken',
      source_source_$price: 1,
    });
  });

  it('is not kept where it is an address that the manifest drops', () => {
    const record = { ...RECORD, event_properties: { $ip: '192.0.2.2', $price: 1 } };
    const sent = readProperties(record, { dropIp: true });
    expect(stringifyJson(sent)).not.toContain('192.0.2');
    expect(listKept(sent)).toEqual({ source_$price: 1 });
  });

  it('is kept as it was written where another spelling replaces it', () => {
    const record = {
      ...EVENT,
      platform: 'Web',
      event_properties: { $browser: 'Chrome Mobile', $device_type: 'web' },
    };
    expect(listKept(readProperties(record))).toEqual({
      source_$browser: 'Chrome Mobile',
      source_$device_type: 'web',
    });
  });
});

it.each([
  [
    { sent_at: 1, source_sent_at: 2 },
    { source_sent_at: 2, source_source_sent_at: 1 },
  ],
  [
    { source_sent_at: 2, sent_at: 1 },
    { source_sent_at: 2, source_source_sent_at: 1 },
  ],
  [{ sent_at: 1, source_sent_at: 1 }, { source_sent_at: 1 }],
])('keeps a reserved name and the one that it is sent by: %j', (own, kept) => {
  const record = { ...EVENT, event_properties: own };
  expect(listKept(readProperties(record))).toEqual(kept);
});

const CASES = countCases(2_000, 30_000);

it(`no own value is lost, in ${CASES} random records (seed ${TEST_SEED})`, () => {
  const random = createRandom(TEST_SEED);
  const isSo = (chance: number) => random() < chance;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const DERIVED = [
    ...['$device_id', '$app_version', '$geoip_city_name', '$geoip_subdivision_1_name', '$geoip_country_name'],
    ...['$geoip_latitude', '$geoip_longitude', 'amplitude_app', 'amplitude_platform', 'amplitude_id'],
    ...['amplitude_event_id', 'amplitude_dma', 'amplitude_idfa', 'amplitude_adid', 'amplitude_paying'],
    ...[
      'amplitude_start_version',
      '$revenue',
      '$price',
      '$quantity',
      '$productId',
      '$revenueType',
      '$browser',
    ],
    ...['$browser_version', '$os', '$os_version', '$device', '$browser_language', '$device_manufacturer'],
    ...['$device_model', '$network_carrier', '$locale', '$device_type', '$event_type', '$ip'],
    ...['$geoip_disable', '$lib', '$lib_version', '$session_id', 'amplitude_library', 'amplitude_session_id'],
    ...['amplitude_user_properties', 'amplitude_other_groups', '$groups', 'sent_at', 'distinct_id', '$set'],
  ];
  const NAMES = [...DERIVED, ...DERIVED.map((name) => `source_${name}`), 'title', 'plan'];
  const FIELDS = [
    ...['device_id', 'version_name', 'city', 'region', 'country', 'location_lat', 'location_lng', 'app'],
    ...['amplitude_id', 'event_id', 'dma', 'idfa', 'adid', 'paying', 'start_version', 'revenue', 'price'],
    ...['quantity', 'product_id', 'revenueType', 'os_name', 'os_version', 'language', 'device_type'],
    ...['device_family', 'device_brand', 'device_model', 'device_carrier', 'ip_address', 'library'],
    ...['session_id', 'user_properties'],
  ];
  for (let number = 0; number < CASES; number += 1) {
    let leaves = 0;
    const leaf = () => {
      leaves += 1;
      const value = pick([`<${leaves}>`, `<${leaves}>`, 1_000_000 + leaves]);
      return isSo(0.1) ? [value] : isSo(0.1) ? { x: value } : value;
    };
    const some = (names: readonly string[], chance: number) =>
      Object.fromEntries(names.filter(() => isSo(chance)).map((name) => [name, leaf()]));
    const order = Object.entries(some(NAMES, pick([0.02, 0.3])));
    const own = Object.fromEntries(isSo(0.5) ? order : order.reverse());
    const record = {
      ...{ ...EVENT, platform: pick(['Web', 'iOS', null]) },
      event_type: pick(['Opened', '[Amplitude] Element Clicked', '[Amplitude] Page Viewed']),
      ...Object.fromEntries(FIELDS.filter(() => isSo(0.5)).map((name) => [name, pick(['of record', 7])])),
      ...(isSo(0.3) ? { library: 'amplitude-flutter/4.3.2_amplitude-swift/1.13.6' } : {}),
      ...(isSo(0.3) ? { session_id: 1_697_380_000_000 } : {}),
      groups: isSo(0.3) ? { team: 'a', other: 'b' } : undefined,
      event_properties: own,
    };
    const options = {
      ...(isSo(0.3) ? { dropIp: true } : {}),
      ...{ groupTypes: ['team'], elementEvents: pick(['keep', 'autocapture']), userPropertiesOnEvents: true },
    };
    const outcome = createMapper('amplitude', options)(record);
    if (outcome.kind !== 'mapped') throw new Error(stringifyJson({ record, outcome }));
    const sent = stringifyJson(outcome.events[0]?.properties) ?? '';
    for (const [name, value] of Object.entries(own)) {
      const isDropped = options.dropIp && name === '$ip';
      const text = stringifyJson(value) ?? '';
      expect(sent.includes(text), stringifyJson({ name, value, record, sent })).toBe(!isDropped);
    }
    // As the import reads it: still text.
    const read = mapText(record, options);
    const events = read.kind === 'mapped' ? read.events.map(toTargetEvent) : [];
    expect(stringifyJson(events[0]?.properties)).toBe(sent);
  }
});
