import { describe, expect, it } from 'vitest';
import { toTargetEvent } from '../../../src/contract/event.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { createMapper } from '../create-mapper.ts';
import { mapText } from './map-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const EVENT = {
  event_type: 'Opened',
  user_id: 'u-1',
  event_time: '2023-10-15 14:30:00',
  uuid: '0c3e5a10-1111-4b6e-8f00-000000000b01',
};
const PAGE_VIEW = { ...EVENT, event_type: '[Amplitude] Page Viewed', platform: 'Web' };
const page = (own: Fields) => ({ ...PAGE_VIEW, event_properties: own });

/** Properties that are set by what the vendor exports, and those that must not be there. */
interface Case {
  readonly rule: string;
  readonly docs: string;
  readonly record: Fields;
  readonly has: Fields;
  readonly lacks?: readonly string[];
}

const SDK = 'https://amplitude.com/docs/sdks/analytics/browser/browser-sdk-2';
const EXPORT = 'https://amplitude.com/docs/apis/analytics/export';
const IMPORTER = 'https://posthog.com/docs/migrate/managed-migrations';

const CASES: readonly Case[] = [
  {
    rule: 'referrer and referring domain of a page view',
    docs: IMPORTER,
    record: page({
      '[Amplitude] Page URL': 'https://a.example/p',
      referrer: 'https://www.google.com/',
      referring_domain: 'www.google.com',
    }),
    has: {
      $referrer: 'https://www.google.com/',
      $referring_domain: 'www.google.com',
      $host: 'a.example',
      $pathname: '/p',
    },
    lacks: ['referrer', 'referring_domain'],
  },
  {
    rule: 'campaign and click ids, given, blank and in the address',
    docs: SDK,
    record: page({
      '[Amplitude] Page Location': 'https://a.example/?gclid=g&utm_medium=cpc',
      utm_source: 'mail',
      utm_medium: '',
      utm_term: 'EMPTY',
      fbclid: 'f',
    }),
    has: { utm_source: 'mail', utm_medium: 'cpc', gclid: 'g', fbclid: 'f' },
    lacks: ['utm_term'],
  },
  {
    rule: 'a page view that nothing led to was opened directly',
    docs: SDK,
    record: page({
      '[Amplitude] Page Location': 'https://a.example/',
      '[Amplitude] Page Counter': 1,
      '[Amplitude] Previous Page Type': 'direct',
    }),
    has: {
      $referrer: '$direct',
      $referring_domain: '$direct',
      '[Amplitude] Page Counter': 1,
      '[Amplitude] Previous Page Type': 'direct',
    },
  },
  {
    rule: 'one that follows another page of the site was not',
    docs: SDK,
    record: page({
      '[Amplitude] Page Location': 'https://a.example/2',
      '[Amplitude] Previous Page Type': 'internal',
      '[Amplitude] Previous Page Location': 'https://a.example/1',
    }),
    has: {
      $referrer: 'https://a.example/1',
      $referring_domain: 'a.example',
      '[Amplitude] Previous Page Location': 'https://a.example/1',
    },
  },
  {
    rule: 'nor is anything known of an event that is no page view',
    docs: SDK,
    record: { ...EVENT, event_properties: { '[Amplitude] Page URL': 'https://a.example/2' } },
    has: { $host: 'a.example' },
    lacks: ['$referrer', '$referring_domain'],
  },
  {
    rule: "a customer's own title keeps its value and costs the event nothing else",
    docs: IMPORTER,
    record: page({
      title: 'mine',
      '[Amplitude] Page Title': 'Plans',
      '[Amplitude] Page URL': 'https://a.example/p',
      '[Amplitude] Viewport Width': 800,
      '[Amplitude] Viewport Height': 600,
    }),
    has: {
      title: 'mine',
      '[Amplitude] Page Title': 'Plans',
      $current_url: 'https://a.example/p',
      $viewport_width: 800,
      $viewport_height: 600,
    },
    lacks: ['[Amplitude] Page URL', '[Amplitude] Viewport Width'],
  },
  {
    rule: "a customer's own referrer is none of the SDK's",
    docs: SDK,
    record: page({
      referrer: 'bob',
      referring_domain: 'friends',
      '[Amplitude] Page URL': 'https://a.example/p',
      '[Amplitude] Previous Page Location': 'https://b.example/',
    }),
    has: {
      referrer: 'bob',
      referring_domain: 'friends',
      $referrer: 'https://b.example/',
      $referring_domain: 'b.example',
    },
  },
  {
    rule: 'a browser on Windows',
    docs: IMPORTER,
    record: {
      ...EVENT,
      platform: 'Web',
      device_type: 'Windows',
      device_family: 'Windows',
      os_name: 'Chrome',
      os_version: '120',
    },
    has: { $device_type: 'Desktop', $os: 'Windows', $browser: 'Chrome', $browser_version: '120' },
  },
  {
    rule: 'a browser on a Mac',
    docs: EXPORT,
    record: { ...EVENT, platform: 'Web', device_type: null, device_family: 'Apple arm64', os_name: 'Safari' },
    has: { $device_type: 'Desktop', $os: 'Mac OS X', $browser: 'Safari' },
  },
  {
    rule: 'a browser on a phone',
    docs: EXPORT,
    record: {
      ...EVENT,
      platform: 'Web',
      device_type: 'Apple iPhone',
      device_family: 'Apple iPhone',
      os_name: 'Mobile Safari',
    },
    has: { $device_type: 'Mobile', $os: 'iOS', $device: 'Apple iPhone' },
  },
  {
    rule: 'a browser on a tablet',
    docs: EXPORT,
    record: {
      ...EVENT,
      platform: 'Web',
      device_type: 'Samsung Galaxy Tab S8',
      device_family: 'Samsung Galaxy Tab',
      os_name: 'Chrome Mobile',
    },
    has: { $device_type: 'Tablet', $os: 'Android', $browser: 'Chrome' },
  },
  {
    rule: 'an app on a phone; type of device is a platform',
    docs: IMPORTER,
    record: { ...EVENT, platform: 'iOS', device_type: 'iOS', os_name: 'ios', os_version: '15.0' },
    has: { $device_type: 'Mobile', $os: 'iOS', $os_version: '15.0' },
  },
  {
    rule: 'an app on a tablet',
    docs: EXPORT,
    record: {
      ...EVENT,
      platform: 'iOS',
      device_type: 'Apple iPad Pro',
      device_family: 'Apple iPad',
      os_name: 'ios',
    },
    has: { $device_type: 'Tablet', $os: 'iOS' },
  },
  {
    rule: 'an app on an Android phone',
    docs: EXPORT,
    record: {
      ...EVENT,
      platform: 'Android',
      device_family: 'Google Phone',
      device_model: 'Pixel 5',
      device_carrier: 'Unknown',
    },
    has: { $device_type: 'Mobile', $device_model: 'Pixel 5' },
    lacks: ['$network_carrier'],
  },
  {
    rule: 'values that mean nothing',
    docs: EXPORT,
    record: {
      ...EVENT,
      city: 'Unknown',
      country: 'EMPTY',
      region: ' ',
      device_type: 'Unknown',
      device_family: 'Apple iPad',
    },
    has: { $device: 'Apple iPad', $device_type: 'Tablet' },
    lacks: ['$geoip_city_name', '$geoip_country_name', '$geoip_subdivision_1_name'],
  },
  {
    rule: 'one SDK',
    docs: EXPORT,
    record: { ...EVENT, library: 'amplitude-ts/2.11.1' },
    has: { $lib: 'amplitude-ts', $lib_version: '2.11.1' },
    lacks: ['amplitude_library'],
  },
  {
    rule: 'an SDK that wraps another',
    docs: EXPORT,
    record: { ...EVENT, library: 'amplitude-flutter/4.3.2_amplitude-swift/1.13.6' },
    has: {
      $lib: 'amplitude-flutter',
      $lib_version: '4.3.2',
      amplitude_library: 'amplitude-flutter/4.3.2_amplitude-swift/1.13.6',
    },
  },
  {
    rule: 'a library without a version',
    docs: EXPORT,
    record: { ...EVENT, library: 'segment' },
    has: { $lib: 'segment' },
    lacks: ['$lib_version'],
  },
  {
    rule: 'names of the destination that only look like its own',
    docs: IMPORTER,
    record: { ...EVENT, amplitude_id: 789, event_id: 101_112, device_id: 'd-1' },
    has: { $device_id: 'd-1', amplitude_event_id: 101_112, amplitude_id: 789, distinct_id: 'u-1' },
  },
];

/** The same record as the import reads it. */
function mapView(record: Fields): unknown {
  const outcome = mapText(record);
  return outcome.kind === 'mapped' ? { ...outcome, events: outcome.events.map(toTargetEvent) } : outcome;
}

describe('amplitude@3', () => {
  const map = createMapper('amplitude');

  it.each(CASES)('$rule', ({ docs, record, has, lacks = [] }) => {
    expect(docs).toMatch(/^https:/);
    const outcome = map(record);
    expect(outcome).toMatchObject({ kind: 'mapped', events: [{ properties: has }] });
    if (outcome.kind !== 'mapped') return;
    for (const name of lacks) expect(outcome.events[0]?.properties).not.toHaveProperty([name]);
    expect(parseJson(JSON.stringify(mapView(record)))).toEqual(parseJson(JSON.stringify(outcome)));
  });

  it('takes the time of the client where the export has no other, and no time that cannot be read', () => {
    const late = { ...EVENT, event_time: null, client_event_time: '2023-10-15 14:30:01.5' };
    expect(map(late)).toMatchObject({ kind: 'mapped', events: [{ timestamp: '2023-10-15T14:30:01.500Z' }] });
    expect(map({ ...late, event_time: 'soon' })).toMatchObject({ kind: 'rejected', reason: 'bad_timestamp' });
    expect(map({ ...late, client_event_time: '' })).toMatchObject({
      kind: 'rejected',
      reason: 'no_timestamp',
    });
  });

  it('takes no amplitude_id for the id of a person', () => {
    const nobody = { ...EVENT, user_id: null, device_id: '', amplitude_id: 789 };
    expect(map(nobody)).toMatchObject({ kind: 'rejected', reason: 'no_identity' });
    expect(createMapper('amplitude', {}, { version: 2 })(nobody)).toMatchObject({ kind: 'mapped' });
  });

  it('sets once what the SDKs set once, and nothing of a customer', () => {
    const record = {
      ...EVENT,
      user_properties: {
        initial_referrer: 'https://google.com',
        initial_referring_domain: 'EMPTY',
        initial_utm_source: 'google',
        initial_utm_medium: '',
        initial_gclid: 'g',
        initial_plan: 'gold',
        plan: 'EMPTY',
      },
    };
    const person = {
      kind: 'person',
      set: { initial_plan: 'gold', plan: 'EMPTY' },
      setOnce: {
        $initial_referrer: 'https://google.com',
        $initial_utm_source: 'google',
        $initial_gclid: 'g',
      },
    };
    expect(map(record).kind === 'mapped' && map(record)).toMatchObject({ facts: [person] });
  });
});
