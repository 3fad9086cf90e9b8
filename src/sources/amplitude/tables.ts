import { listFields, type Table } from '../mapping/table.ts';

// Event property <- event_properties. `Page Location` is the whole address, `Page URL` ends before the `?`.
// https://amplitude.com/docs/sdks/analytics/browser/browser-sdk-2
export const PAGE: Table = {
  $current_url: ['[Amplitude] Page Location', '[Amplitude] Page URL'],
  $host: '[Amplitude] Page Domain',
  $pathname: '[Amplitude] Page Path',
  title: '[Amplitude] Page Title',
  $referrer: '[Amplitude] Previous Page Location',
  $viewport_width: '[Amplitude] Viewport Width',
  $viewport_height: '[Amplitude] Viewport Height',
  $screen_name: '[Amplitude] Screen Name',
};

// Event property <- record.
export const ANY_PLATFORM: Table = {
  $device_id: 'device_id',
  $app_version: 'version_name',
  $geoip_city_name: 'city',
  $geoip_subdivision_1_name: 'region',
  $geoip_country_name: 'country',
  $geoip_latitude: 'location_lat',
  $geoip_longitude: 'location_lng',
  amplitude_app: 'app',
  amplitude_platform: 'platform',
  amplitude_id: 'amplitude_id',
  amplitude_event_id: 'event_id',
  amplitude_dma: 'dma',
  amplitude_idfa: 'idfa',
  amplitude_adid: 'adid',
  amplitude_paying: 'paying',
  amplitude_start_version: 'start_version',
  $revenue: 'revenue',
  $price: 'price',
  $quantity: 'quantity',
  $productId: ['product_id', 'productId'],
  $revenueType: ['revenue_type', 'revenueType'],
};

// In a browser the os_ fields hold the browser, and the device_ fields the operating system.
export const WEB: Table = {
  $browser: 'os_name',
  $browser_version: 'os_version',
  $os: ['device_family', 'device_type'],
  $device: 'device_type',
  $browser_language: 'language',
};

export const NOT_WEB: Table = {
  $os: 'os_name',
  $os_version: 'os_version',
  $device: ['device_type', 'device_family'],
  $device_manufacturer: ['device_manufacturer', 'device_brand'],
  $device_model: 'device_model',
  $network_carrier: 'device_carrier',
  $locale: 'language',
};

/** What is read beside the tables. */
const RULED_FIELDS =
  'event_type event_time client_event_time server_upload_time user_id device_id amplitude_id uuid $insert_id session_id ip_address library platform event_properties user_properties groups group_properties device_family device_type merged_amplitude_id merge_event_time merge_server_time';

export const listAmplitudeFields = (): ReadonlySet<string> =>
  new Set([...[ANY_PLATFORM, WEB, NOT_WEB].flatMap(listFields), ...RULED_FIELDS.split(' ')]);
