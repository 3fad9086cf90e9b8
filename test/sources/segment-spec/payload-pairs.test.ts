import { describe, expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

/**
 * Records in the shape of jitsucom/jitsu's data layout tests (page, identify, track; MIT), and what the rules of its
 * PostHog destination make of them, property by property. What differs is listed in docs/payload-pairs.md.
 */

const visit = {
  library: { name: 'jitsu-js', version: '1.0.0' },
  locale: 'de-AT',
  groupId: 'group-7',
  campaign: { name: 'spring', source: 'mail', medium: 'email' },
  screen: { width: 1440, height: 900, innerWidth: 1200, innerHeight: 800, density: 2 },
  page: {
    url: 'https://shop.example:3088/books?utm_source=mail',
    host: 'shop.example:3088',
    path: '/books',
    search: '?utm_source=mail',
    title: 'Books',
    referrer: 'https://search.example',
    referring_domain: 'search.example',
  },
};
const times = { timestamp: '2022-11-14T08:56:34.395Z', sentAt: '2022-11-14T08:56:34.395Z' };
const traits = { caseName: 'one', CaseLastName: 'Doe', User_Name: 'jj', email: 'one@example.com' };
const onPage = {
  $current_url: 'https://shop.example:3088/books?utm_source=mail',
  $host: 'shop.example:3088',
  $pathname: '/books',
  $referrer: 'https://search.example',
  $referring_domain: 'search.example',
  $screen_width: 1440,
  $screen_height: 900,
  $groups: { company: 'group-7' },
};

const map = createMapper('segment');

const EVENTS: readonly [string, object, string, object][] = [
  [
    'page',
    {
      type: 'page',
      properties: {
        name: 'Books',
        url: visit.page.url,
        path: '/books',
        title: 'Books',
        hash: '',
        width: 1200,
      },
    },
    '$pageview',
    onPage,
  ],
  ['track', { type: 'track', event: 'testEvent', properties: { deep: { is: 'kept' } } }, 'testEvent', onPage],
];

describe('a call of Jitsu', () => {
  it.each(EVENTS)('%s becomes what its own destination would send', (_, fields, event, expected) => {
    const outcome = map({
      ...times,
      userId: 'one@example.com',
      anonymousId: 'a-1',
      messageId: '77777777-0000-4000-8000-0000000000aa',
      context: { ...visit, traits },
      ...fields,
    });
    expect(outcome).toMatchObject({
      kind: 'mapped',
      events: [
        {
          event,
          uuid: '77777777-0000-4000-8000-0000000000aa',
          timestamp: times.timestamp,
          properties: { distinct_id: 'one@example.com', ...expected },
        },
      ],
      facts: [{ kind: 'pair' }, { kind: 'person', distinctId: 'one@example.com', set: traits }],
    });
  });

  it('identify feeds its person, with all of its traits', () => {
    const outcome = map({
      ...times,
      type: 'identify',
      userId: 'u-2',
      anonymousId: 'a-1',
      context: visit,
      traits,
    });
    expect(outcome).toMatchObject({
      kind: 'skipped',
      facts: [
        { kind: 'pair', anonId: 'a-1', userId: 'u-2' },
        { kind: 'person', distinctId: 'u-2', time: times.timestamp, set: traits },
      ],
    });
  });
});

/**
 * Calls in the shape of the tests of rudderlabs/rudder-transformer's PostHog destination (MIT), and in that of
 * segmentio/action-destinations' one (MIT).
 */
describe('a call of RudderStack', () => {
  const mapRudder = createMapper('rudderstack');
  const call = {
    anonymousId: 'an-7',
    userId: 'mia',
    messageId: '77777777-0000-4000-8000-0000000000bb',
    originalTimestamp: '2021-02-03T04:05:06.789Z',
    sentAt: '2021-02-03T04:05:06.789Z',
  };
  const ids = { distinct_id: 'mia' };
  const onPhone = {
    os: { name: 'android', version: '12' },
    app: { name: 'Reader', build: '9', version: '2.1', namespace: 'example.reader' },
    device: {
      id: 'dev-4',
      name: 'oriole',
      type: 'Android',
      model: 'Pixel 6',
      manufacturer: 'Google',
    },
    screen: { width: 1080, height: 2400, density: 420 },
    network: { carrier: 'Drei', wifi: false },
    library: { name: 'com.rudderstack.android.sdk.core', version: '1.2.0' },
    timezone: 'Europe/Vienna',
    locale: 'de-AT',
    userAgent: 'Dalvik/2.1.0 (Linux; U; Android 12; Pixel 6 Build/SD1A.210817)',
  };
  const fromPhone = {
    $os: 'Android',
    $os_version: '12',
    $app_name: 'Reader',
    $app_build: '9',
    $app_version: '2.1',
    $app_namespace: 'example.reader',
    $device_id: 'dev-4',
    $device_name: 'oriole',
    $device_model: 'Pixel 6',
    $device_manufacturer: 'Google',
    $device_type: 'Mobile',
    $screen_width: 1080,
    $screen_height: 2400,
    $screen_density: 420,
    $network_carrier: 'Drei',
    $lib: 'com.rudderstack.android.sdk.core',
    $lib_version: '1.2.0',
    $timezone: 'Europe/Vienna',
    $locale: 'de-AT',
    $raw_user_agent: onPhone.userAgent,
  };
  const inBrowser = {
    library: { name: 'RudderLabs JavaScript SDK', version: '1.9.0' },
    os: { name: '', version: '' },
    page: { url: 'http://shop.example:1112/cart.html', path: '/cart.html', referrer: '', loaded: '20' },
    campaign: { source: 'mail', medium: 'letter', name: 'may', term: 'tea', content: 'top' },
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0.4324.96 Safari/537.36',
  };
  const fromBrowser = {
    $current_url: 'http://shop.example:1112/cart.html',
    $host: 'shop.example:1112',
    $pathname: '/cart.html',
    $referrer: '$direct',
    $os: 'Mac OS X',
    $os_version: '10.15.7',
    $browser: 'Chrome',
    $browser_version: 88,
    utm_source: 'mail',
    utm_medium: 'letter',
    utm_campaign: 'may',
    utm_term: 'tea',
    utm_content: 'top',
    context_page_loaded: '20',
  };

  it.each([
    ['track', { event: 'Saved', properties: { times: 9 } }, 'Saved', { ...ids, ...fromPhone, times: 9 }],
    // Clients of phones send the name of a screen in `event`, and it may be there alone.
    ['screen', { event: 'Home' }, '$screen', { ...ids, ...fromPhone, $screen_name: 'Home' }],
    [
      'screen',
      { event: 'Home', properties: { name: 'Start' } },
      '$screen',
      { $screen_name: 'Start', name: 'Start' },
    ],
    ['screen', { name: 'Top', event: 'Home' }, '$screen', { $screen_name: 'Top', name: 'Top' }],
  ])('%s of a phone becomes what its own destination sends', (type, fields, event, expected) => {
    const outcome = mapRudder({ ...call, type, channel: 'mobile', context: onPhone, ...fields });
    expect(outcome).toMatchObject({ kind: 'mapped', events: [{ event, properties: expected }] });
    // An app is no browser, whatever a parser makes of what Android calls itself.
    expect(JSON.stringify(outcome)).not.toContain('"$browser"');
  });

  it.each([
    ['a known user', { userId: 'mia' }, 'mia'],
    ['a number as id', { userId: 123 }, '123'],
    ['nobody yet', { userId: null }, 'an-7'],
  ])('track of a page by %s becomes what its own destination sends', (_, fields, distinctId) => {
    const own = { title: 'own', url: 'own', viewport_width: '969', viewport_height: '173' };
    const context = inBrowser;
    const outcome = mapRudder({ ...call, type: 'track', event: 'Paid', context, properties: own, ...fields });
    const viewport = { $viewport_width: '969', $viewport_height: '173' };
    expect(outcome).toMatchObject({
      kind: 'mapped',
      events: [
        { event: 'Paid', properties: { ...fromBrowser, ...viewport, ...own, distinct_id: distinctId } },
      ],
    });
  });

  it('identify, alias and group feed persons and groups with what its own destination sends at once', () => {
    const context = { ...onPhone, traits: { plan: 'free' } };
    expect(mapRudder({ ...call, type: 'identify', event: 'identify', context })).toMatchObject({
      kind: 'skipped',
      facts: [{ kind: 'pair' }, { kind: 'person', distinctId: 'mia', set: { plan: 'free' } }],
    });
    expect(mapRudder({ ...call, type: 'alias', previousId: 'old' })).toMatchObject({
      kind: 'skipped',
      facts: [
        { kind: 'pair', anonId: 'an-7', userId: 'mia' },
        { kind: 'pair', anonId: 'old', userId: 'mia' },
        { kind: 'rename', from: 'old', to: 'mia' },
      ],
    });
    const traits = { groupType: 'company', size: 3 };
    expect(mapRudder({ ...call, type: 'group', groupId: 'g-1', traits })).toMatchObject({
      kind: 'skipped',
      facts: [{ kind: 'pair' }, { kind: 'group', groupType: 'company', groupKey: 'g-1', set: traits }],
    });
  });

  it('a call that only says when it was sent has no time', () => {
    const { originalTimestamp: _, ...rest } = call;
    expect(mapRudder({ ...rest, type: 'group', groupId: 'g-1', traits: {} })).toMatchObject({
      kind: 'rejected',
      reason: 'no_timestamp',
    });
  });
});

describe("a call of Segment's own destination", () => {
  const call = {
    messageId: '77777777-0000-4000-8000-0000000000cc',
    timestamp: '2024-05-06T07:08:09.000Z',
    receivedAt: '2024-05-06T07:08:10.000Z',
    context: { page: { url: 'https://shop.example/tea' } },
  };
  it.each([
    ['track', { event: 'Saved', userId: 'mia', properties: { times: 9 } }, 'Saved', { times: 9 }],
    ['page', { userId: 'mia' }, '$pageview', { $current_url: 'https://shop.example/tea' }],
    ['screen', { name: 'Home', userId: 'mia' }, '$screen', { $screen_name: 'Home' }],
  ])('%s has its name, time and properties', (type, fields, event, expected) => {
    expect(map({ ...call, type, ...fields })).toMatchObject({
      kind: 'mapped',
      events: [{ event, timestamp: call.timestamp, properties: { ...expected, distinct_id: 'mia' } }],
    });
  });

  it('of somebody who is not known is kept under the anonymous id', () => {
    expect(map({ ...call, type: 'track', event: 'Saved', anonymousId: 'an-7' })).toMatchObject({
      events: [{ properties: { distinct_id: 'an-7' } }],
    });
  });
});
