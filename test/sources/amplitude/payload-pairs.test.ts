import { expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

/**
 * What the Amplitude parser of the service's own importer expects of records of these shapes, restated:
 * https://github.com/PostHog/posthog (rust/batch-import-worker). Where it guesses, this import rejects, and says so.
 */
type Fields = Readonly<Record<string, unknown>>;

interface Pair {
  readonly shows: string;
  readonly record: Fields;
  /** `undefined`: no event. */
  readonly becomes:
    | { readonly event?: string; readonly timestamp?: string; readonly has?: Fields }
    | undefined;
  readonly setOnce?: Fields;
  readonly options?: Fields;
  /** Why this is not what the importer does. */
  readonly differs?: string;
}

const BASE = { event_type: 'Saved', user_id: 'ada', event_time: '2022-03-04 05:06:07' };

const PAIRS: readonly Pair[] = [
  {
    shows: 'own properties and the id of a device',
    record: { ...BASE, $insert_id: 'i-1', device_id: 'd-1', event_properties: { how: 'key' } },
    becomes: {
      event: 'Saved',
      timestamp: '2022-03-04T05:06:07.000Z',
      has: { distinct_id: 'ada', how: 'key', $device_id: 'd-1' },
    },
  },
  {
    shows: 'a page view',
    record: {
      ...BASE,
      event_type: '[Amplitude] Page Viewed',
      event_properties: {
        '[Amplitude] Page URL': 'https://a.example/p',
        '[Amplitude] Page Domain': 'a.example',
        '[Amplitude] Page Path': '/p',
        referrer: 'https://www.google.com/',
        referring_domain: 'www.google.com',
        utm_source: 'mail',
      },
    },
    becomes: {
      event: '$pageview',
      has: {
        $current_url: 'https://a.example/p',
        $host: 'a.example',
        $pathname: '/p',
        $referrer: 'https://www.google.com/',
        $referring_domain: 'www.google.com',
        utm_source: 'mail',
      },
    },
  },
  {
    shows: 'a click',
    record: { ...BASE, event_type: '[Amplitude] Element Clicked' },
    becomes: { event: '$autocapture' },
    options: { elementEvents: 'autocapture' },
    differs: 'by an option only: the export holds no chain of elements, so filters on elements find nothing',
  },
  { shows: 'the start of a session', record: { ...BASE, event_type: 'session_start' }, becomes: undefined },
  {
    shows: 'device and place of an app',
    record: {
      ...BASE,
      platform: 'iOS',
      device_type: 'iOS',
      os_name: 'iOS',
      os_version: '15.0',
      country: 'Austria',
      city: 'Graz',
      region: 'Styria',
      ip_address: '192.0.2.1',
    },
    becomes: {
      has: {
        $device_type: 'Mobile',
        $os: 'iOS',
        $os_version: '15.0',
        $geoip_country_name: 'Austria',
        $geoip_city_name: 'Graz',
        $geoip_subdivision_1_name: 'Styria',
        $ip: '192.0.2.1',
      },
    },
    differs: 'the importer takes os_name for a browser on every platform',
  },
  {
    shows: 'a browser on a desktop',
    record: {
      ...BASE,
      platform: 'Web',
      device_type: 'Linux',
      device_family: 'Linux',
      os_name: 'Chrome',
      os_version: '120',
    },
    becomes: { has: { $device_type: 'Desktop', $os: 'Linux', $browser: 'Chrome', $browser_version: '120' } },
    differs: 'the version stays the text that it was; the importer makes a number of whole ones',
  },
  {
    shows: 'what the SDKs set once',
    record: {
      ...BASE,
      user_properties: { initial_referrer: 'EMPTY', initial_utm_medium: 'cpc', initial_utm_campaign: 'c' },
    },
    becomes: {},
    setOnce: { $initial_utm_medium: 'cpc', $initial_utm_campaign: 'c' },
  },
  {
    shows: 'milliseconds',
    record: { ...BASE, event_time: '2022-03-04 05:06:07.089' },
    becomes: { timestamp: '2022-03-04T05:06:07.089Z' },
  },
  {
    shows: 'the time of the client',
    record: { ...BASE, event_time: null, client_event_time: '2022-03-04 05:06:08' },
    becomes: { timestamp: '2022-03-04T05:06:08.000Z' },
  },
  {
    shows: 'a time that cannot be read',
    record: { ...BASE, event_time: 'yesterday' },
    becomes: undefined,
    differs: 'the importer takes the time of the import, and every run another one',
  },
  {
    shows: 'a device alone',
    record: { ...BASE, user_id: null, device_id: 'd-1' },
    becomes: { has: { distinct_id: 'd-1' } },
  },
  {
    shows: 'nobody',
    record: { ...BASE, user_id: null },
    becomes: undefined,
    differs: 'the importer makes a random person for each event',
  },
  {
    shows: 'numbers of the vendor',
    record: { ...BASE, amplitude_id: 12, event_id: 34 },
    becomes: { has: { amplitude_id: 12, amplitude_event_id: 34 } },
    differs: 'named without a $, which is for names of the destination',
  },
  { shows: 'no name', record: { ...BASE, event_type: null }, becomes: undefined },
  {
    shows: 'ids with blanks around them',
    record: { ...BASE, user_id: '  ada ', device_id: ' d-1 ' },
    becomes: { has: { distinct_id: 'ada' } },
  },
];

it.each(PAIRS)('makes of $shows what the importer of the service does, or says why not', (pair) => {
  const outcome = createMapper('amplitude', pair.options)(pair.record);
  if (pair.becomes === undefined) {
    expect(outcome.kind).not.toBe('mapped');
    return;
  }
  const { has = {}, ...event } = pair.becomes;
  expect(outcome).toMatchObject({ kind: 'mapped', events: [{ ...event, properties: has }] });
  if (!pair.setOnce || outcome.kind !== 'mapped') return;
  expect(outcome.facts).toMatchObject([{ kind: 'person', distinctId: 'ada', setOnce: pair.setOnce }]);
  expect(JSON.stringify(outcome.facts)).not.toContain('initial_referrer');
});
