import { toScope } from '../../contract/identity-fact.ts';
import { type PropertyList, pinName } from '../../lib/json/property-list.ts';
import type { FindPlace } from '../../lib/places.ts';
import { trimmedIds } from '../mapping/distinct-id.ts';
import { readText } from '../mapping/identity.ts';
import { copyProperties, createRenames, type Renames } from '../mapping/properties.ts';
import {
  type ApplyTable,
  compileTable,
  type Fields,
  type FieldsOrText,
  hasField,
  readNamed,
  type Table,
} from '../mapping/table.ts';
import { parseAddress } from '../mapping/web/address.ts';
import { CAMPAIGN_PARAMETERS } from '../mapping/web/campaign.ts';
import { chooseDeviceType, createEnrichWeb } from '../mapping/web/enrich-web.ts';
import { hasMeaning } from '../mapping/web/meaning.ts';
import { findSystemOfDevice } from '../mapping/web/operating-system.ts';
import { DIRECT } from '../mapping/web/rules.ts';
import type { WithGeoip, WithTimezone } from '../source.ts';
import { setLibrary as setOneLibrary } from './earlier-rules.ts';
import { createKeepOwn } from './keep-own.ts';
import type { AmplitudeOptions } from './options.ts';
import type { AmplitudeRules } from './rules.ts';
import { createReadSession } from './session.ts';
import { ANY_PLATFORM, NOT_WEB, PAGE, WEB } from './tables.ts';

/**
 * Version 3: events as live clients send them, by the layer that all sources share.
 * https://amplitude.com/docs/sdks/analytics/browser/browser-sdk-2#autocapture
 */
export function createRules3(
  { dropIp, geoip, timezone }: AmplitudeOptions & WithGeoip & WithTimezone,
  findPlace: FindPlace | undefined,
): AmplitudeRules {
  const enrich = createEnrichWeb({ dropIp, geoip, findPlace });
  return {
    ids: trimmedIds,
    toOrder,
    timeFields: ['event_time', 'client_event_time'],
    takesAmplitudeId: false,
    rejectsLongKeys: true,
    hearsDropped: true,
    rejectsUntimedMarkers: false,
    userProperties: {
      toSetOnceName: (name) => INITIAL_NAMES.get(name),
      isNone: (value) => !hasMeaning(value),
      isWhole: true,
    },
    describe(properties, record, own) {
      if (own) copyOwn(properties, own);
      describeRecord(properties, record);
    },
    readSession: createReadSession(timezone),
    setLibrary,
    finish: (properties, record) => enrich(properties, namesReferrer(properties, record)),
  };
}

/** Version 4: an export may hold several projects, and what one has of a person is not all there is in another. */
export const createRules4 = (
  options: AmplitudeOptions & WithGeoip & WithTimezone,
  findPlace: FindPlace | undefined,
): AmplitudeRules => ({
  ...createRules3(options, findPlace),
  toOrder(record) {
    const project = readText(record['app']);
    return project === undefined ? toOrder(record) : toOrder(record) + toScope(project);
  },
});

/**
 * Version 5: what a session marker says of persons and groups is not lost where its time cannot be read, nor an own
 * property where the record comes to its name.
 */
export function createRules5(
  options: AmplitudeOptions & WithGeoip & WithTimezone,
  findPlace: FindPlace | undefined,
): AmplitudeRules {
  const rules = createRules4(options, findPlace);
  const { hold, keep } = createKeepOwn(options.dropIp === true);
  return {
    ...rules,
    rejectsUntimedMarkers: true,
    describe(properties, record, own) {
      if (own) copyOwn(properties, own);
      hold(properties, own);
      describeRecord(properties, record);
    },
    finish(properties, record) {
      rules.finish(properties, record);
      keep(properties);
    },
  };
}

/**
 * What decides between snapshots of one millisecond, behind their time: the microseconds of the event, then its
 * number, then when it was uploaded. https://amplitude.com/docs/apis/analytics/export
 */
function toOrder(record: Fields): string {
  const time = readText(record['event_time']) ?? '';
  const number = readText(record['event_id']) ?? '';
  const uploaded = readText(record['server_upload_time']) ?? '';
  const micros = readMicros(time);
  const order = isDigits(number) ? `${ZEROS[number.length]}${number}` : NO_NUMBER;
  return `${micros}${order}${isTime(uploaded) ? uploaded : ''}`;
}
const NO_NUMBER = '0'.repeat(16);
/** In front of a number of so many digits. */
const ZEROS = Array.from({ length: 17 }, (_, digits) => '0'.repeat(16 - digits));
const NO_MICROS = '0'.repeat(6);

/** What stands behind the milliseconds, six digits of it. */
function readMicros(time: string): string {
  const from = time.indexOf('.') + 4;
  // As the vendor writes nearly all of them.
  if (from === 'yyyy-mm-dd hh:mm:ss.mmm'.length && time.endsWith('000') && time.length === from + 3) {
    return NO_MICROS;
  }
  return (/\.\d{3}(\d{1,6})/.exec(time)?.[1] ?? '').padEnd(6, '0');
}

const isDigits = (text: string): boolean => /^\d{1,16}$/.test(text);
const isTime = (text: string): boolean => /^[\d :.TZ-]{1,32}$/.test(text);

const PAGE_3: Table = {
  ...PAGE,
  $referrer: ['referrer', '[Amplitude] Previous Page Location'],
  $referring_domain: 'referring_domain',
};

const { $os: _, ...WEB_3 } = WEB;

const applyAnyPlatform = compileTable(ANY_PLATFORM, hasMeaning);
const applyWeb = compileTable(WEB_3, hasMeaning);
const applyNotWeb = compileTable(NOT_WEB, hasMeaning);

/** Properties that a customer may set under the destination's name. */
const PAGE_ROWS = Object.entries(PAGE_3).map(([target, from]) => ({
  target: pinName(target),
  columns: [from].flat(),
}));
/** Says where one came from even where another one is the referrer, so it is also kept as it is. */
const KEPT_COLUMNS: ReadonlySet<string> = new Set(['[Amplitude] Previous Page Location']);

const REFERRER = pinName('referrer');
const REFERRER_IS_OWN = 1 << PAGE_ROWS.length;

/** How own properties become those of an event, by what of them is the customer's: most have none. */
const copiesOfOwn = new Map<number, { readonly renames: Renames; readonly apply: ApplyTable }>();

/** What the customer sends under a name of the destination keeps it, and costs the event nothing else. */
function copyOwn(properties: PropertyList, own: FieldsOrText): void {
  let mask = 0;
  for (let row = 0; row < PAGE_ROWS.length; row += 1) {
    if (hasField(own, (PAGE_ROWS[row] as (typeof PAGE_ROWS)[number]).target)) mask |= 1 << row;
  }
  if (hasField(own, REFERRER) && !isReferrer(readNamed(own, REFERRER))) mask |= REFERRER_IS_OWN;
  let copy = copiesOfOwn.get(mask);
  if (!copy) {
    copy = createCopy(mask);
    copiesOfOwn.set(mask, copy);
  }
  copyProperties(properties, own, copy.renames);
  copy.apply(properties, own);
}

function createCopy(mask: number) {
  const isColumn = (column: string) =>
    (mask & REFERRER_IS_OWN) === 0 || (column !== 'referrer' && column !== 'referring_domain');
  const rows = PAGE_ROWS.filter((_row, at) => (mask & (1 << at)) === 0)
    .map(({ target, columns }) => [target.text, columns.filter(isColumn)] as const)
    .filter(([, columns]) => columns.length > 0);
  const moved = rows.flatMap(([, columns]) => columns).filter((column) => !KEPT_COLUMNS.has(column));
  return {
    renames: createRenames(moved.map((column) => [column, null])),
    apply: compileTable(Object.fromEntries(rows), hasMeaning),
  };
}

/** Whether this is what the SDK calls referrer, and not a customer's own, such as the name of a friend. */
const isReferrer = (value: unknown): boolean =>
  !hasMeaning(value) ||
  (typeof value === 'string' && (value === DIRECT || parseAddress(value) !== undefined));

/** Kind and system of a browser by its device_ fields: of neighbouring records they are the same. */
let lastFamily: string | undefined;
let lastType: string | undefined;
let lastSystem: string | undefined;
let lastKind: string | undefined;

function describeRecord(properties: PropertyList, record: Fields): void {
  applyAnyPlatform(properties, record);
  if (record['platform'] === 'Web') describeBrowser(properties, record);
  else describeDevice(properties, record);
}

/** In a browser the os_ fields hold the browser, and the device_ fields device and operating system. */
function describeBrowser(properties: PropertyList, record: Fields): void {
  applyWeb(properties, record);
  const family = readMeaning(record['device_family']);
  const type = readMeaning(record['device_type']);
  if (family !== lastFamily || type !== lastType) {
    lastFamily = family;
    lastType = type;
    lastSystem =
      (family === undefined ? undefined : findSystemOfDevice(family)) ??
      (type === undefined ? undefined : findSystemOfDevice(type));
    lastKind = chooseDeviceType(family, type, undefined, lastSystem);
  }
  if (lastSystem !== undefined) properties.set(OS, lastSystem);
  setDeviceType(properties, lastKind);
}

function describeDevice(properties: PropertyList, record: Fields): void {
  applyNotWeb(properties, record);
  const family = readMeaning(record['device_family']);
  const type = readMeaning(record['device_type']);
  const platform = readMeaning(record['platform']);
  setDeviceType(properties, chooseDeviceType(family, type, readMeaning(record['os_name']), platform));
}

function setDeviceType(properties: PropertyList, kind: string | undefined): void {
  if (kind !== undefined && !properties.has(DEVICE_TYPE)) properties.set(DEVICE_TYPE, kind);
}

const OS = pinName('$os');
const DEVICE_TYPE = pinName('$device_type');
const PREVIOUS_PAGE_TYPE = pinName('[Amplitude] Previous Page Type');

function readMeaning(value: unknown): string | undefined {
  return typeof value === 'string' && hasMeaning(value) ? value : undefined;
}

/** A page view names what led to it: the referrer, or the page before it on the same site. */
const namesReferrer = (properties: PropertyList, record: Fields): boolean => {
  if (record['event_type'] !== '[Amplitude] Page Viewed') return false;
  const previous = properties.get(PREVIOUS_PAGE_TYPE);
  return !hasMeaning(previous) || previous === 'direct';
};

/** What the SDKs set once by themselves; any other `initial_*` is a property of the customer's own. */
const INITIAL_NAMES: ReadonlyMap<string, string> = new Map(
  ['referrer', 'referring_domain', 'current_url', 'pathname', ...CAMPAIGN_PARAMETERS].map((name) => [
    `initial_${name}`,
    `$initial_${name}`,
  ]),
);

/** An SDK that wraps another one: `amplitude-flutter/4.3.2_amplitude-swift/1.13.6`. */
const WRAPPING = /^([^/]+)\/([^/_]+)_[^/]+\/.+$/;

function setLibrary(properties: PropertyList, library: unknown): void {
  if (!hasMeaning(library)) return;
  const [, name, version] = WRAPPING.exec(readText(library) ?? '') ?? [];
  if (name === undefined) {
    setOneLibrary(properties, library);
    return;
  }
  properties.set('$lib', name);
  properties.set('$lib_version', version);
  properties.set('amplitude_library', library);
}
