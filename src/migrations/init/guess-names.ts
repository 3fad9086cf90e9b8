/** A column, by the name that it is compared by. */
interface Column {
  readonly name: string;
  readonly plain: string;
  /** Of the records that have one. */
  readonly values: readonly unknown[];
}

/**
 * Property that live clients of the destination send -> what warehouses and exports of other tools call it, best
 * first. Dashboards of channels, devices and places are made of these.
 */
const SAME: Readonly<Record<string, readonly string[]>> = {
  $current_url: ['current_url', 'page_url', 'url', 'page_location'],
  $pathname: ['pathname', 'page_urlpath', 'page_path', 'path'],
  $host: ['host', 'hostname', 'page_urlhost', 'event_dimensions_hostname'],
  title: ['page_title', 'title'],
  $referrer: ['referrer', 'page_referrer', 'referer'],
  $referring_domain: ['referring_domain', 'refr_urlhost'],
  $raw_user_agent: ['user_agent', 'useragent', 'context_user_agent'],
  $ip: ['ip', 'ip_address', 'remote_ip', 'user_ipaddress', 'context_ip'],
  utm_source: [
    'utm_source',
    'mkt_source',
    'context_campaign_source',
    'collected_traffic_source_manual_source',
    'param_source',
  ],
  utm_medium: [
    'utm_medium',
    'mkt_medium',
    'context_campaign_medium',
    'collected_traffic_source_manual_medium',
    'param_medium',
  ],
  utm_campaign: ['utm_campaign', 'mkt_campaign', 'context_campaign_name', 'param_campaign'],
  utm_term: ['utm_term', 'mkt_term', 'context_campaign_term'],
  utm_content: ['utm_content', 'mkt_content', 'context_campaign_content'],
  gclid: ['gclid', 'param_gclid'],
  $device_type: ['device_type', 'dvce_type', 'device_category'],
  $device_model: ['device_model', 'model', 'device_mobile_model_name'],
  $device_manufacturer: ['device_manufacturer', 'manufacturer', 'device_brand', 'brand'],
  $os: ['os', 'os_name', 'os_family', 'device_operating_system'],
  $os_version: ['os_version', 'device_operating_system_version'],
  $browser: ['browser', 'br_family', 'br_name', 'browser_name', 'device_browser', 'device_web_info_browser'],
  $browser_version: ['browser_version', 'br_version', 'device_web_info_browser_version'],
  $screen_width: ['screen_width', 'dvce_screenwidth'],
  $screen_height: ['screen_height', 'dvce_screenheight'],
  $viewport_width: ['viewport_width', 'br_viewwidth'],
  $viewport_height: ['viewport_height', 'br_viewheight'],
  $geoip_country_name: ['country', 'country_name', 'geo_country', 'geo_country_name'],
  $geoip_country_code: ['country_code', 'mp_country_code', 'country', 'geo_country'],
  $geoip_subdivision_1_name: ['region', 'geo_region_name', 'geo_region'],
  $geoip_city_name: ['city', 'geo_city'],
  $app_version: ['app_version', 'app_version_string', 'version_name'],
};

const CODE = /^[A-Z]{2}$/;

/** `GB` is the code of a country, `United Kingdom` its name. */
const FITS: Readonly<Record<string, (values: readonly unknown[]) => boolean>> = {
  $geoip_country_name: (values) => !values.some((value) => CODE.test(String(value))),
  $geoip_country_code: (values) => values.length > 0 && values.every((value) => CODE.test(String(value))),
};

/** A column that holds something goes before one that does not; each property is one column's. */
export function guessRenames(columns: readonly Column[]): (readonly [column: string, name: string])[] {
  const taken = new Set<string>();
  return Object.entries(SAME)
    .flatMap(([property, names]): (readonly [string, string])[] => {
      // In an object of properties, too: its fields get the names that they have there.
      if (columns.some(({ name }) => name === property || name.endsWith(`.${property}`))) return [];
      const fits = FITS[property] ?? (() => true);
      const known = names
        .flatMap((name) => columns.filter(({ plain }) => plain === name))
        .filter(({ name, values }) => !taken.has(name) && fits(values));
      const best = known.find(({ values }) => values.length > 0) ?? known[0];
      if (!best) return [];
      taken.add(best.name);
      return [[best.name, property]];
    })
    .filter(([column, name]) => column !== name);
}

/** Names that other tools give what the destination knows as the view of a page or a screen. */
const VIEWS: Readonly<Record<string, string>> = {
  page_view: '$pageview',
  pageview: '$pageview',
  $mp_web_page_view: '$pageview',
  'page view': '$pageview',
  'page viewed': '$pageview',
  'viewed page': '$pageview',
  screen_view: '$screen',
  'screen view': '$screen',
  'screen viewed': '$screen',
};

/** What the destination calls these events, where it has a name of its own. */
export const guessEventNames = (names: readonly unknown[]): (readonly [exported: string, name: string])[] =>
  [...new Set(names)].flatMap((name): (readonly [string, string])[] => {
    const view = typeof name === 'string' ? VIEWS[name.trim().toLowerCase()] : undefined;
    return view === undefined ? [] : [[String(name), view]];
  });

/** A table without a column of names whose rows have an address: one of pages, where it is called so. */
export const isTableOfPages = (tableName: string, renames: readonly (readonly [string, string])[]): boolean =>
  /\bpages?\b|\bpage ?views?\b/i.test(tableName) && renames.some(([, name]) => name === '$current_url');

/** Objects whose fields are the properties of the event themselves. */
export const PROPERTIES: ReadonlySet<string> = new Set([
  'properties',
  'event_properties',
  'props',
  'event_props',
]);

export const isOfProperties = ({ plain, values }: Column): boolean =>
  PROPERTIES.has(plain) && values.length > 0 && values.every(isObject);

function isObject(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null && !Array.isArray(value);
  try {
    return isObject(JSON.parse(value) as object);
  } catch {
    return false;
  }
}
