import type { Random } from './random.ts';

/** One visitor of the sample, with the constant fields of their records as JSON text. */
export interface SamplePerson {
  readonly platform: 'web' | 'mobile';
  readonly deviceId: string;
  /** JSON text: a string, for some a number above 2^53. */
  readonly userId: string;
  /** The visit in which they log in; Infinity for those who never do. */
  readonly loginVisit: number;
  readonly company: string | undefined;
  /** Device id that the customer's server sends for them after their first login. */
  readonly serverDeviceId: string;
  /** Fields of the record from `app` to `platform`, ending in a comma. */
  readonly device: string;
  /** Traits before and after login, without the closing brace. */
  readonly anonymousTraits: string;
  readonly userTraits: string;
  visits: number;
}

const FIRST = [
  'Mara',
  'Jonas',
  'Zoë',
  'Nguyễn',
  'Amara',
  'Søren',
  'Lucía',
  '美咲',
  'Oluwaseun',
  'Chloé',
] as const;
const LAST = [
  'Lind',
  'Okafor',
  'Müller',
  'Tanaka',
  'García',
  'Novák',
  'Öztürk',
  "O'Neil",
  '王',
  'Dubois',
] as const;
const PLANS = ['free', 'team', 'business'] as const;
const PLACES = [
  ['Germany', 'Berlin', 'Berlin', 'German'],
  ['Japan', 'Tokyo', 'Tokyo', 'Japanese'],
  ['Brazil', 'São Paulo', 'São Paulo', 'Portuguese'],
  ['United States', 'Oregon', 'Portland', 'English'],
  ['Nigeria', 'Lagos', 'Lagos', 'English'],
  ['France', 'Île-de-France', 'Paris', 'French'],
] as const;

/** User ids that a careless reader would damage: JSON text by number of the person. */
const SPECIAL_IDS = new Map([
  [0, '7205759403792793601'],
  [1, '"9007199254740993123"'],
  [2, '"007"'],
  [3, '"123.456"'],
  [6, '"zoë.müller+test@example.com"'],
]);

/** Person 5 uses the tablet of person 4, and both log in on it. */
const SHARES_DEVICE_OF = new Map([[5, 4]]);

/** The smallest number of persons that covers every special case. */
export const MIN_PERSONS = 8;

export function createPersons(count: number, random: Random): SamplePerson[] {
  const persons: SamplePerson[] = [];
  for (let number = 0; number < count; number += 1) {
    const shared = persons[SHARES_DEVICE_OF.get(number) ?? -1];
    persons.push(createPerson(number, count, shared, random));
  }
  return persons;
}

function createPerson(
  number: number,
  count: number,
  shared: SamplePerson | undefined,
  random: Random,
): SamplePerson {
  const platform = shared?.platform ?? (random.chance(0.6) ? 'web' : 'mobile');
  const device = platform === 'web' ? renderWebDevice(random) : renderMobileDevice(random);
  const place = random.pick(PLACES);
  const isSpecial = number < MIN_PERSONS;
  const name = `${random.pick(FIRST)} ${random.pick(LAST)}`;
  const userId = SPECIAL_IDS.get(number) ?? JSON.stringify(`user-${String(number).padStart(6, '0')}`);
  const referrer = random.pick(['https://www.google.com/', 'https://news.example.org/', 'EMPTY']);
  const campaign = random.pick(['spring_launch', 'brand', 'EMPTY', 'EMPTY']);
  const anonymousTraits = `{"initial_referrer":"${referrer}","initial_utm_campaign":"${campaign}","locale":"${place[3]}"`;
  const traits = {
    name: number % 10 === 7 ? `${name} 🚀` : name,
    email: `person${number}@example.com`,
    plan: random.pick(PLANS),
  };
  return {
    platform,
    deviceId: shared?.deviceId ?? (platform === 'web' ? random.uuid() : `${random.uuid().toUpperCase()}R`),
    userId,
    loginVisit: isSpecial ? 1 : random.chance(0.7) ? 1 + random.below(3) : Number.POSITIVE_INFINITY,
    company:
      number % 3 === 0
        ? `Company ${(number / 3) % Math.max(2, Math.ceil(count / 25))} GmbH & Søn`
        : undefined,
    serverDeviceId: random.hex(16),
    device: `${device}"amplitude_id":${10_000_000_000 + number},"city":"${place[2]}","country":"${place[0]}","region":"${place[1]}","dma":null,"language":"${place[3]}","ip_address":"192.0.2.${1 + (number % 250)}","location_lat":null,"location_lng":null,"idfa":null,"adid":null,"paying":${traits.plan === 'free' ? null : '"true"'},"user_creation_time":"2023-10-01 08:00:00.000000",`,
    anonymousTraits,
    userTraits: `${anonymousTraits},${JSON.stringify(traits).slice(1, -1)},"account_id":${9_100_000_000_000_000_000n + BigInt(number)}`,
    visits: 0,
  };
}

// In a browser the os_ fields hold the browser and device_family the operating system.
function renderWebDevice(random: Random): string {
  const [browser, version] = random.pick([
    ['Chrome', '119'],
    ['Firefox', '118'],
    ['Safari', '17'],
  ] as const);
  const os = random.pick(['Mac OS X', 'Windows', 'Linux']);
  return `"platform":"Web","library":"amplitude-ts/2.11.1","version_name":null,"os_name":"${browser}","os_version":"${version}","device_type":"${os}","device_family":"${os}","device_brand":null,"device_manufacturer":null,"device_model":null,"device_carrier":null,`;
}

function renderMobileDevice(random: Random): string {
  return random.chance(0.5)
    ? '"platform":"iOS","library":"amplitude-swift/1.4.0","version_name":"4.2.0","os_name":"ios","os_version":"17.1","device_type":"Apple iPhone","device_family":"Apple iPhone","device_brand":"Apple","device_manufacturer":"Apple","device_model":"iPhone15,2","device_carrier":"Telekom",'
    : '"platform":"Android","library":"amplitude-android/2.39.8","version_name":"4.1.7","os_name":"android","os_version":"14","device_type":"Google Pixel","device_family":"Google Pixel","device_brand":"google","device_manufacturer":"Google","device_model":"Pixel 8","device_carrier":"O2",';
}

/** The customer's own server: no device, no browser, no session. */
export const SERVER_DEVICE =
  '"platform":null,"library":"http/2.0","version_name":null,"os_name":null,"os_version":null,"device_type":null,"device_family":null,"device_brand":null,"device_manufacturer":null,"device_model":null,"device_carrier":null,"city":null,"country":null,"region":null,"dma":null,"language":null,"ip_address":"198.51.100.7","location_lat":null,"location_lng":null,"idfa":null,"adid":null,"paying":null,"user_creation_time":null,';
