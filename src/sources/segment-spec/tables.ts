import type { Table } from '../mapping/table.ts';

// Event property <- record, of every call that becomes an event.
export const CONTEXT: Table = {
  $lib: 'context.library.name',
  $lib_version: 'context.library.version',
  $ip: 'context.ip',
  $locale: 'context.locale',
  $timezone: 'context.timezone',
  $raw_user_agent: 'context.userAgent',
  $os: 'context.os.name',
  $os_version: 'context.os.version',
  $device_id: ['context.device.id', 'anonymousId'],
  $device_type: 'context.device.type',
  $device_name: 'context.device.name',
  $device_manufacturer: 'context.device.manufacturer',
  $device_model: 'context.device.model',
  $app_name: 'context.app.name',
  $app_version: 'context.app.version',
  $app_build: 'context.app.build',
  $app_namespace: 'context.app.namespace',
  $network_carrier: 'context.network.carrier',
  $network_wifi: 'context.network.wifi',
  $network_cellular: 'context.network.cellular',
  $network_bluetooth: 'context.network.bluetooth',
  $screen_width: 'context.screen.width',
  $screen_height: 'context.screen.height',
  $screen_density: 'context.screen.density',
  $geoip_city_name: 'context.location.city',
  $geoip_subdivision_1_name: 'context.location.region',
  $geoip_country_name: 'context.location.country',
  $geoip_latitude: 'context.location.latitude',
  $geoip_longitude: 'context.location.longitude',
  $current_url: 'context.page.url',
  $pathname: 'context.page.path',
  title: 'context.page.title',
  $referrer: 'context.page.referrer',
  utm_source: 'context.campaign.source',
  utm_medium: 'context.campaign.medium',
  utm_campaign: 'context.campaign.name',
  utm_term: 'context.campaign.term',
  utm_content: 'context.campaign.content',
};

const { $device_type: _platform, ...SAME } = CONTEXT;

/**
 * Version 3. `context.device.type` is a platform (`ios`, `android`) and no type of device, so it is kept under its
 * own name. What browsers' clients know of the page and the window is in
 * https://www.rudderstack.com/docs/sources/event-streams/sdks/rudderstack-javascript-sdk/ and in archives of
 * analytics.js and of Jitsu's client.
 */
export const CONTEXT_3: Table = {
  ...SAME,
  $host: 'context.page.host',
  $referring_domain: 'context.page.referring_domain',
  $viewport_width: ['context.screen.innerWidth', 'properties.viewport_width'],
  $viewport_height: ['context.screen.innerHeight', 'properties.viewport_height'],
};

// Event property <- properties of a page call, which know better than its context.
export const PAGE: Table = {
  $current_url: 'url',
  $pathname: 'path',
  title: 'title',
  $referrer: 'referrer',
};

export const PAGE_3: Table = { ...PAGE, $referring_domain: 'referring_domain' };

// Event property <- record of a page or screen call.
export const NAMED: Table = { name: 'name', category: 'category' };

/** What the rules read beside the tables. */
export const RULED_FIELDS =
  'type event userId anonymousId previousId groupId messageId timestamp originalTimestamp sentAt receivedAt properties traits context mergeProperties'.split(
    ' ',
  );

/** The same within the context, from version 3 on. */
export const RULED_CONTEXT = [
  'context.groupId',
  'context.traits',
  'context.sessionId',
  'context.session_id',
  'context.page.initial_referrer',
  'context.page.initial_referring_domain',
];
