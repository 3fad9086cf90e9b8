import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PropertyList } from '../../../../src/lib/json/property-list.ts';
import { AGENT_PARSER } from '../../../../src/sources/mapping/web/agent.ts';
import { CAMPAIGN_PARAMETERS } from '../../../../src/sources/mapping/web/campaign.ts';
import { createEnrichWeb } from '../../../../src/sources/mapping/web/enrich-web.ts';
import { WEB_RULES } from '../../../../src/sources/mapping/web/rules.ts';

type Properties = Readonly<Record<string, unknown>>;

const enrichWeb = createEnrichWeb({ dropIp: false });

function enrich(given: Properties, namesReferrer = false): Properties {
  const properties = new PropertyList();
  for (const [name, value] of Object.entries(given)) properties.set(name, value);
  enrichWeb(properties, namesReferrer);
  const { $geoip_disable: isDisabled, ...rest } = properties.toObject();
  expect(isDisabled).toBe(true);
  return rest;
}

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)';
const AGENTS = {
  chromeOnMac: `${MAC} Chrome/120.0.0.0 Safari/537.36`,
  safariOnMac: `${MAC.replace('537.36', '605.1.15')} Version/17.2 Safari/605.1.15`,
  safariOnIphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_2_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1',
  chromeOnIpad:
    'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/119.0.6045.109 Mobile/15E148 Safari/604.1',
  edge: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0',
  ie: 'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko',
  firefoxOnLinux: 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0',
  chromebook:
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36',
  samsung:
    'Mozilla/5.0 (Linux; Android 13; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36',
  androidTablet:
    'Mozilla/5.0 (Linux; Android 12; SM-X906C) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  playStation: 'Mozilla/5.0 (PlayStation 4 11.00) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  playStation5:
    'Mozilla/5.0 (PlayStation 5 6.02) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15',
  firstIphone:
    'Mozilla/5.0 (iPhone; U; CPU like Mac OS X; en) AppleWebKit/420+ (KHTML, like Gecko) Version/3.0 Mobile/1A543a Safari/419.3',
  bot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  script: 'curl/8.0',
  androidApp: 'Dalvik/2.1.0 (Linux; U; Android 12; Pixel 6 Build/SD1A.210817)',
};

const toAgent = (
  browser: string,
  version: number,
  os: string,
  osVersion: string | undefined,
  kind: string,
) => ({
  $browser: browser,
  $browser_version: version,
  $os: os,
  ...(osVersion === undefined ? {} : { $os_version: osVersion }),
  $device_type: kind,
});

/** rule, properties as a source set them, what is added or changed */
type Case = readonly [string, Properties, Properties];
const CASES: readonly Case[] = [
  [
    'host with its port and path of an address (https://posthog.com/docs/product-analytics/autocapture)',
    { $current_url: 'https://Shop.Example:8443/plans/a%20b?ref=mail#top' },
    { $host: 'shop.example:8443', $pathname: '/plans/a%20b' },
  ],
  [
    'a port that the scheme means is none (location.host)',
    { $current_url: 'https://me:secret@shop.example:443' },
    { $host: 'shop.example', $pathname: '/' },
  ],
  [
    'a host that the record names stays',
    { $current_url: 'https://a.example/x', $host: 'b.example' },
    { $pathname: '/x' },
  ],
  [
    'a host that is named without its port gets it (https://developer.mozilla.org/en-US/docs/Web/API/Location/host)',
    { $current_url: 'http://localhost:8080/x', $host: 'localhost' },
    { $host: 'localhost:8080', $pathname: '/x' },
  ],
  [
    'no other host gets the port of an address',
    { $current_url: 'http://localhost:8080/x', $host: 'local' },
    { $pathname: '/x' },
  ],
  [
    'an address that says nothing is none, and neither are its parts',
    { $current_url: '(not set)', $host: 'EMPTY', $pathname: 'unknown', $app_version: ' ' },
    { $current_url: undefined, $host: undefined, $pathname: undefined, $app_version: undefined },
  ],
  ['what is no address has no host', { $current_url: '/plans?utm_source=mail' }, {}],
  ['nor has one that is no text', { $current_url: 7, $referrer: ['https://a.example'] }, {}],
  [
    'campaign and click ids of the address (https://posthog.com/docs/data/utm-segmentation)',
    {
      $current_url: `https://a.example/?${CAMPAIGN_PARAMETERS.map((name) => `${name}=1+%C3%BC`).join('&')}&other=1`,
    },
    {
      $host: 'a.example',
      $pathname: '/',
      ...Object.fromEntries(CAMPAIGN_PARAMETERS.map((name) => [name, '1 ü'])),
    },
  ],
  [
    'not where they are given, blank, behind the fragment or beyond what can be stored',
    {
      $current_url:
        'https://a.example/?utm_source=b&utm_medium=&utm_term=%00&utm_content=%zz&gclid#?fbclid=1',
      utm_source: 'a',
    },
    { $host: 'a.example', $pathname: '/', utm_content: '%zz' },
  ],
  [
    'domain of the referrer (https://posthog.com/docs/data/channel-type)',
    { $referrer: 'https://www.google.com/search?q=x' },
    { $referring_domain: 'www.google.com' },
  ],
  ['a referrer that is no address has none', { $referrer: 'bob' }, {}],
  ['$direct is its own domain', { $referrer: '$direct' }, { $referring_domain: '$direct' }],
  [
    'values that mean nothing are dropped',
    {
      $os: 'Unknown',
      $browser: ' ',
      utm_source: 'EMPTY',
      $network_carrier: 'unknown',
      $geoip_city_name: '(not set)',
      plan: 'Unknown',
    },
    {
      $os: undefined,
      $browser: undefined,
      utm_source: undefined,
      $network_carrier: undefined,
      $geoip_city_name: undefined,
    },
  ],
  // https://github.com/PostHog/posthog-js: detectBrowser, detectOS, detectDeviceType
  [
    'Chrome on a Mac',
    { $raw_user_agent: AGENTS.chromeOnMac },
    toAgent('Chrome', 120, 'Mac OS X', '10.15.7', 'Desktop'),
  ],
  [
    'Safari on a Mac',
    { $raw_user_agent: AGENTS.safariOnMac },
    toAgent('Safari', 17.2, 'Mac OS X', '10.15.7', 'Desktop'),
  ],
  [
    'Safari on a phone',
    { $useragent: AGENTS.safariOnIphone },
    toAgent('Mobile Safari', 17.2, 'iOS', '17.2.1', 'Mobile'),
  ],
  [
    'Chrome on a tablet',
    { $user_agent: AGENTS.chromeOnIpad },
    toAgent('Chrome iOS', 119, 'iOS', '16.6.0', 'Tablet'),
  ],
  ['Edge', { '$user-agent': AGENTS.edge }, toAgent('Microsoft Edge', 120, 'Windows', '10', 'Desktop')],
  [
    'Internet Explorer',
    { $raw_user_agent: AGENTS.ie },
    toAgent('Internet Explorer', 11, 'Windows', '7', 'Desktop'),
  ],
  [
    'Firefox on Linux',
    { $raw_user_agent: AGENTS.firefoxOnLinux },
    toAgent('Firefox', 121, 'Linux', undefined, 'Desktop'),
  ],
  [
    'a Chromebook',
    { $raw_user_agent: AGENTS.chromebook },
    toAgent('Chrome', 119, 'Chrome OS', undefined, 'Desktop'),
  ],
  [
    'a Samsung phone',
    { $raw_user_agent: AGENTS.samsung },
    toAgent('Samsung Internet', 23, 'Android', '13', 'Mobile'),
  ],
  [
    'an Android tablet',
    { $raw_user_agent: AGENTS.androidTablet },
    toAgent('Chrome', 120, 'Android', '12', 'Tablet'),
  ],
  [
    'a console, whatever its system',
    { $raw_user_agent: AGENTS.playStation5 },
    { $browser: 'Safari', $browser_version: 13, $device_type: 'Console' },
  ],
  [
    'an agent that gives no version has none',
    { $raw_user_agent: AGENTS.firstIphone },
    toAgent('Mobile Safari', 3, 'iOS', undefined, 'Mobile'),
  ],
  ['a bot has no device', { $raw_user_agent: AGENTS.bot }, { $browser: 'Googlebot' }],
  [
    'an app on Android has no browser (https://source.android.com/docs/core/runtime)',
    { $raw_user_agent: AGENTS.androidApp },
    { $os: 'Android', $os_version: '12', $device_type: 'Mobile' },
  ],
  ['a script has nothing', { $raw_user_agent: AGENTS.script }, {}],
  ['nor has what only begins as a browser does', { $raw_user_agent: 'Mozilla/5.0 (compatible)' }, {}],
  [
    'what the record says of its browser goes before its agent',
    { $raw_user_agent: AGENTS.chromeOnMac, $browser: 'Brave', $os: 'macOS 14.1', $device_type: 'desktop' },
    { $browser_version: 120, $os: 'Mac OS X', $os_version: '10.15.7', $device_type: 'Desktop' },
  ],
  ['iphone os, ipados, ios are iOS', { $os: 'iPadOS' }, { $os: 'iOS', $device_type: 'Mobile' }],
  [
    'a version behind the name',
    { $os: 'mac os x 10.15' },
    { $os: 'Mac OS X', $os_version: '10.15', $device_type: 'Desktop' },
  ],
  ['android', { $os: 'android', $os_version: '13' }, { $os: 'Android', $device_type: 'Mobile' }],
  ['Ubuntu', { $os: 'Ubuntu' }, { $os: 'Linux', $device_type: 'Desktop' }],
  ['Windows', { $os: 'windows' }, { $os: 'Windows', $device_type: 'Desktop' }],
  ...['win32', 'Win64', 'Win10'].map(
    ($os): Case => [
      `${$os} (https://developer.mozilla.org/en-US/docs/Web/API/Navigator/platform)`,
      { $os },
      { $os: 'Windows', $device_type: 'Desktop' },
    ],
  ),
  ...['OSX', 'MacIntel'].map(($os): Case => [$os, { $os }, { $os: 'Mac OS X', $device_type: 'Desktop' }]),
  ...['CentOS', 'openSUSE'].map(($os): Case => [$os, { $os }, { $os: 'Linux', $device_type: 'Desktop' }]),
  ['CrOS', { $os: 'CrOS' }, { $os: 'Chrome OS', $device_type: 'Desktop' }],
  ['any other system stays', { $os: 'FreeBSD' }, {}],
  ['browsers as parsers spell them', { $browser: 'Chrome Mobile iOS' }, { $browser: 'Chrome iOS' }],
  ['IE', { $browser: 'IE' }, { $browser: 'Internet Explorer' }],
  ['a type of device is no platform: ios', { $device_type: 'ios' }, { $device_type: 'Mobile' }],
  ['nor Android', { $device_type: 'Android', $device_model: 'SM-T510' }, { $device_type: 'Tablet' }],
  ['nor web', { $device_type: 'web' }, { $device_type: undefined }],
  ['tablet by its name', { $device_type: 'ios', $device: 'Apple iPad Pro' }, { $device_type: 'Tablet' }],
  ['other spelling', { $device_type: 'smartphone' }, { $device_type: 'Mobile' }],
  ['SMART_TV', { $device_type: 'SMART_TV' }, { $device_type: 'TV' }],
  ['AppleTV', { $device_type: 'AppleTV11,1' }, { $device_type: 'TV' }],
  ['PC', { $device_type: 'PC' }, { $device_type: 'Desktop' }],
  ["a customer's own kind stays", { $device_type: 'Kiosk', $os: 'Linux' }, {}],
];

describe('the web layer', () => {
  it.each(CASES)('%s', (_rule, given, added) => {
    const expected = Object.fromEntries(
      Object.entries({ ...given, ...added }).filter(([, value]) => value !== undefined),
    );
    expect(enrich(given)).toEqual(expected);
  });

  it('takes a page without a referrer for one that was opened directly, where the record would name one', () => {
    const page = { $current_url: 'https://a.example/' };
    expect(enrich(page, true)).toMatchObject({ $referrer: '$direct', $referring_domain: '$direct' });
    expect(enrich({ ...page, $referrer: '' }, true)).toMatchObject({ $referrer: '$direct' });
    expect(enrich(page, false)).not.toHaveProperty('$referrer');
    expect(enrich({}, true)).toEqual({});
    const led = { ...page, $referrer: 'https://b.example/' };
    expect(enrich(led, true)).toMatchObject({
      $referrer: 'https://b.example/',
      $referring_domain: 'b.example',
    });
    expect(enrich({ ...page, $referring_domain: 'c.example' }, true)).not.toHaveProperty('$referrer');
  });

  it('leaves the address of the visitor behind where that is asked for', () => {
    const properties = new PropertyList();
    properties.set('$ip', '198.51.100.7');
    createEnrichWeb({ dropIp: true })(properties, false);
    expect(properties.toObject()).toEqual({ $geoip_disable: true });
  });

  it('names a source for every rule', () => {
    for (const { docs } of WEB_RULES) expect(docs).toMatch(/^https:\/\//);
  });

  it('is pinned to the parser of user agents that is installed', () => {
    const path = new URL('../../../../node_modules/bowser/package.json', import.meta.url);
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(path, 'utf8')));
    expect(AGENT_PARSER).toBe(`bowser@${version}`);
  });

  const NAMES = [
    ...new Set(WEB_RULES.flatMap(({ from }) => from)),
    '$device_type',
    '$device',
    '$host',
    'utm_source',
  ];
  const anything = fc.oneof(
    fc.constantFrom(
      ...Object.values(AGENTS),
      'https://a.example:80/b?utm_source=%E0%A4%A&gclid=\0',
      'ios',
      'EMPTY',
    ),
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.jsonValue(),
  );

  it('never throws, and adds nothing that cannot be stored', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...NAMES), anything),
        fc.boolean(),
        (given, namesReferrer) => {
          const enriched = enrich(given, namesReferrer);
          for (const [name, value] of Object.entries(enriched)) {
            if (!Object.hasOwn(given, name) && typeof value === 'string') expect(value).not.toContain('\0');
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('changes nothing that it has changed before, and depends on no event before', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...NAMES), anything), (given) => {
        const once = enrich(given, true);
        expect(enrich(once, true)).toEqual(once);
        expect(enrich(given, true)).toEqual(once);
      }),
      { numRuns: 500 },
    );
  });
});
