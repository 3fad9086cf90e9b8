import { renderAmplitudeRecord, renderAmplitudeTime } from '../src/demo/amplitude-record.ts';
import { Random } from '../src/demo/random.ts';

const START_MS = Date.UTC(2023, 10, 6);
const MS_BETWEEN = 700;
/** Every third record of a person is from before the login. */
const ANONYMOUS_SHARE = 0.33;
const NON_ASCII_SHARE = 0.05;
const LONG_NUMBER_SHARE = 0.01;

const TYPES = [
  'Item Viewed',
  'Item Added',
  'Search Performed',
  'Order Completed',
  '[Amplitude] Page Viewed',
  '[Amplitude] Element Clicked',
  'session_start',
] as const;
const CITIES = ['Springfield', 'Portland', 'Leeds', 'Hamburg', 'Lyon', 'Austin'] as const;
const CITIES_NON_ASCII = ['São Paulo', 'München', '東京'] as const;
const WORDS = [
  'winter',
  'jacket',
  'blue',
  'large',
  'sale',
  'new',
  'cotton',
  'kids',
  'trail',
  'wool',
] as const;
const CAMPAIGNS = ['brand', 'retargeting', 'newsletter', 'partner', 'spring'] as const;
const PLANS = ['free', 'team', 'pro', 'enterprise'] as const;

/**
 * Writes record number `index` as one line of about 2.3 KB, which gzip packs about 9:1. One record in twenty has
 * text beyond ASCII and one in a hundred a number that a double cannot hold. A person has `recordsPerPerson`
 * records in a row, on one device, and logs in after the first third of them.
 */
export function createRecordWriter(recordsPerPerson: number): (index: number) => string {
  const random = new Random(7);
  return (index) => {
    const person = Math.floor(index / recordsPerPerson);
    const anonymous = (index % recordsPerPerson) / recordsPerPerson < ANONYMOUS_SHARE;
    const eventMs = START_MS + index * MS_BETWEEN;
    const nonAscii = random.chance(NON_ASCII_SHARE);
    const sessionId = START_MS + person * recordsPerPerson * MS_BETWEEN;
    return renderAmplitudeRecord({
      app: 187_520,
      type: random.pick(TYPES),
      uuid: random.uuid(),
      eventId: index,
      eventTime: renderAmplitudeTime(eventMs),
      clientMs: eventMs + 120,
      uploadMs: eventMs + 380 + random.below(500),
      sessionId,
      userIdJson: anonymous ? 'null' : `"user-${person}"`,
      deviceIdJson: `"device-${person}-4F6A5CE"`,
      eventPropertiesJson: renderEventProperties(random),
      userPropertiesJson: renderUserProperties(random, person),
      groupsJson: '{}',
      groupPropertiesJson: '{}',
      deviceJson: renderDevice(random, person, nonAscii),
    });
  };
}

function renderEventProperties(random: Random): string {
  const sku = String(random.below(20_000)).padStart(8, '0');
  const order = random.chance(LONG_NUMBER_SHARE)
    ? `17041189549083${10_000 + random.below(80_000)}`
    : '41189549';
  const words = `${random.pick(WORDS)} ${random.pick(WORDS)} ${random.pick(WORDS)}`;
  return `{"sku":"${sku}","name":"${words}","price":${random.below(9_000) / 100},"currency":"EUR","quantity":${1 + random.below(4)},"order_id":${order},"in_stock":true,"discount":null,"tags":["${random.pick(WORDS)}","${random.pick(WORDS)}"],"list":{"id":"recommended-for-you","position":${random.below(40)}},"page":{"path":"/shop/${sku}","referrer":"https://shop.example.com/search?q=${random.pick(WORDS)}","title":"${words} | Example Shop"},"experiment_checkout":"variant-b","experiment_search":"control","viewport_width":1440,"viewport_height":900,"scroll_depth":${random.below(100)},"[Amplitude] Page Domain":"shop.example.com","[Amplitude] Page Path":"/shop/${sku}"}`;
}

function renderUserProperties(random: Random, person: number): string {
  return `{"plan":"${PLANS[person % 4] ?? 'free'}","email":"user-${person}@example.com","locale":"en-GB","company":"Company ${person % 500}","initial_referrer":"https://news.example.org/","initial_utm_source":"newsletter","initial_utm_medium":"email","initial_utm_campaign":"${CAMPAIGNS[person % 5] ?? 'brand'}","signup_date":"2023-0${1 + (person % 9)}-14","newsletter":true,"visits":${random.below(30)},"lifetime_value":${(person % 1_000) + 0.5},"last_search":"${random.pick(WORDS)}"}`;
}

function renderDevice(random: Random, person: number, nonAscii: boolean): string {
  const city = nonAscii ? random.pick(CITIES_NON_ASCII) : (CITIES[person % CITIES.length] ?? CITIES[0]);
  return `"platform":"Web","library":"amplitude-ts/2.6.1","version_name":"4.2.0","os_name":"Chrome","os_version":"119.0.0.0","device_type":"Apple Mac","device_family":"Mac OS X","device_brand":"Apple","device_manufacturer":"Apple","device_model":"Macintosh","device_carrier":null,"amplitude_id":${10_000_000_000 + person},"city":"${city}","country":"Germany","region":"${city}","dma":null,"language":"English","ip_address":"192.0.2.${person % 250}","location_lat":null,"location_lng":null,"idfa":null,"adid":null,"paying":"true","user_creation_time":"2023-10-01 08:00:00.000000",`;
}
