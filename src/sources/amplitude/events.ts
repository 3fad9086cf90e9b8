import type { MappedEvent } from '../../contract/event.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../contract/outcome.ts';
import { PropertyList, pinName } from '../../lib/json/property-list.ts';
import { readField } from '../../lib/json/record-view.ts';
import { shown } from '../../lib/preview.ts';
import { type IdRules, toDistinctId } from '../mapping/distinct-id.ts';
import { createEventId, createRecordId, type IdFrom, readUuid } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { readText } from '../mapping/identity.ts';
import { copyProperties, createRenames } from '../mapping/properties.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import { createReadSessionId } from '../mapping/session-ids.ts';
import {
  asFieldsOrText,
  compileTable,
  type Fields,
  type FieldsOrText,
  hasField,
  hasValue,
  listFields,
  type Table,
} from '../mapping/table.ts';
import { createReadIso, createReadTime } from '../mapping/timestamp.ts';
import type { MapRecord, WithTimezone } from '../source.ts';
import type { AmplitudeOptions } from './options.ts';
import { mapAmplitudeFacts, readGroups } from './persons.ts';

// Event <- event_type. Names not listed stay as they are.
const EVENT_NAMES = new Map([
  ['[Amplitude] Page Viewed', '$pageview'],
  ['[Amplitude] Screen Viewed', '$screen'],
]);

/** Marks made by the SDKs; the destination finds sessions by `$session_id`. */
const SESSION_MARKERS = new Set(['session_start', 'session_end']);

const ELEMENT_EVENT_TYPES = new Map([
  ['[Amplitude] Element Clicked', 'click'],
  ['[Amplitude] Element Changed', 'change'],
]);

// Event property <- event_properties. `Page Location` is the whole address, `Page URL` ends before the `?`.
// https://amplitude.com/docs/sdks/analytics/browser/browser-sdk-2
const PAGE: Table = {
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
const ANY_PLATFORM: Table = {
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
const WEB: Table = {
  $browser: 'os_name',
  $browser_version: 'os_version',
  $os: ['device_family', 'device_type'],
  $device: 'device_type',
  $browser_language: 'language',
};

const NOT_WEB: Table = {
  $os: 'os_name',
  $os_version: 'os_version',
  $device: ['device_type', 'device_family'],
  $device_manufacturer: ['device_manufacturer', 'device_brand'],
  $device_model: 'device_model',
  $network_carrier: 'device_carrier',
  $locale: 'language',
};

/** What the rules below read beside the tables. */
const RULED_FIELDS =
  'event_type event_time user_id device_id amplitude_id uuid $insert_id session_id ip_address library platform event_properties user_properties groups group_properties';

const applyPage = compileTable(PAGE);
const applyAnyPlatform = compileTable(ANY_PLATFORM);
const applyWeb = compileTable(WEB);
const applyNotWeb = compileTable(NOT_WEB);

const OWN_NAMES = createRenames();
const PAGE_NAMES = createRenames(listFields(PAGE).map((name) => [name, null]));

export const listAmplitudeFields = (): ReadonlySet<string> =>
  new Set([...[ANY_PLATFORM, WEB, NOT_WEB].flatMap(listFields), ...RULED_FIELDS.split(' ')]);

export function createAmplitudeMap(
  options: AmplitudeOptions & WithTimezone,
  ids: IdRules,
  idFrom: IdFrom,
): MapRecord<MappedEvent> {
  // Already corrected for the clock of the client, in UTC, written without saying so.
  const readTime = createReadIso(options.timezone);
  const dropped = new Set(options.dropEvents);
  const groupTypes = options.groupTypes && new Set(options.groupTypes);

  return function mapAmplitude(record): MapOutcome<MappedEvent> {
    const type = readText(record['event_type']) ?? '';
    if (dropped.has(type)) return skipped('excluded_by_manifest');

    const userId = ids.read(record['user_id']);
    const deviceId = ids.read(record['device_id']);
    // The export's own number of a person, there even where both ids are missing.
    const id = userId ?? deviceId ?? ids.read(record['amplitude_id']);
    const distinctId = toDistinctId(id, 'user_id, device_id and amplitude_id');
    const time = readRecordTime(record['event_time'], 'event_time', readTime);
    const isMarker = SESSION_MARKERS.has(type) && !options.keepSessionMarkers;

    if (type === '$groupidentify') {
      if (isRejected(time)) return time;
      return skipped('feeds_groups', mapAmplitudeFacts(record, { time, ids, groupTypes }));
    }
    if (isRejected(distinctId)) return isMarker ? skipped('session_marker') : distinctId;
    if (isRejected(time)) return isMarker ? skipped('session_marker') : time;
    const facts = mapAmplitudeFacts(record, { time, ids, groupTypes, distinctId, userId, deviceId });
    const knownId = ids.marksUsers ? userId : undefined;
    if (isMarker) return skipped('session_marker', facts, knownId);
    if (type === '$identify') return skipped('feeds_people', facts, knownId);

    return mapEvent(record, type, { distinctId, knownId }, time, facts);
  };

  function mapEvent(
    record: Fields,
    type: string,
    { distinctId, knownId }: { readonly distinctId: string; readonly knownId: string | undefined },
    time: string,
    facts: readonly IdentityFact[],
  ): MapOutcome<MappedEvent> {
    const elementEvent = options.elementEvents === 'autocapture' ? ELEMENT_EVENT_TYPES.get(type) : undefined;
    const event = elementEvent
      ? '$autocapture'
      : readEventName(EVENT_NAMES.get(type) ?? record['event_type'], 'event_type');
    if (isRejected(event)) return event;
    const own = readField(record, 'event_properties');
    const ownFields = asFieldsOrText(own);
    if (hasValue(own) && !ownFields) {
      return rejected('bad_field', `event_properties is ${shown(own)}; an object was expected`);
    }

    const properties = new PropertyList();
    properties.set('distinct_id', distinctId);
    if (ownFields) copyOwn(properties, ownFields);
    applyAnyPlatform(properties, record);
    if (record['platform'] === 'Web') applyWeb(properties, record);
    else applyNotWeb(properties, record);
    if (elementEvent) properties.set('$event_type', elementEvent);
    if (!options.dropIp && hasValue(record['ip_address'])) properties.set('$ip', record['ip_address']);
    if (options.userPropertiesOnEvents && hasValue(record['user_properties'])) {
      properties.set('amplitude_user_properties', record['user_properties']);
    }
    setLibrary(properties, record['library']);
    setSession(properties, record);
    const groups = readGroups(record['groups'], { ids, groupTypes });
    if (groups.keys) properties.set('$groups', groups.keys);
    if (groups.others) properties.set('amplitude_other_groups', groups.others);
    // The import is sent from another address than the person had.
    properties.set('$geoip_disable', true);

    const uuid = idFrom === 'record' ? createRecordId('amplitude', record) : createAmplitudeUuid(record);
    return mapped([{ event, uuid, timestamp: time, properties }], facts, knownId);
  }
}

/** A property the customer sends under the destination's name keeps it; Amplitude's then stay as they were. */
function copyOwn(properties: PropertyList, own: FieldsOrText): void {
  const taken = PAGE_TARGETS.some((target) => hasField(own, target));
  copyProperties(properties, own, taken ? OWN_NAMES : PAGE_NAMES);
  if (!taken) applyPage(properties, own);
}

const PAGE_TARGETS = Object.keys(PAGE).map(pinName);

/** `amplitude-ts/2.11.1` is library and version. */
function setLibrary(properties: PropertyList, library: unknown): void {
  if (!hasValue(library)) return;
  const text = readText(library);
  const slash = text?.lastIndexOf('/') ?? -1;
  properties.set('$lib', text && slash > 0 ? text.slice(0, slash) : library);
  if (text && slash > 0) properties.set('$lib_version', text.slice(slash + 1));
}

const readSessionId = createReadSessionId('amplitude', createReadTime('epoch_ms', 'UTC'));

/** session_id is the session's start in epoch ms on its device; -1 means outside of any session. */
function setSession(properties: PropertyList, record: Fields): void {
  const session = record['session_id'];
  if (!hasValue(session) || session === -1 || session === '-1') return;
  const owner =
    readText(record['device_id']) ?? readText(record['user_id']) ?? readText(record['amplitude_id']);
  const id = readSessionId([readText(record['app']) ?? '', owner ?? ''], readText(session) ?? '');
  if (id === undefined) properties.set('amplitude_session_id', session);
  else properties.set('$session_id', id);
}

/**
 * `uuid` names one row of the export. `$insert_id` is unique per device only, and some are human text
 * that many events share, so name, person and time are part of the key.
 * https://amplitude.com/docs/apis/analytics/export#response-schema
 */
function createAmplitudeUuid(record: Fields): string {
  const uuid = readUuid(record['uuid']);
  if (uuid !== undefined) return uuid;
  const insertId = readText(record['$insert_id']);
  if (insertId === undefined || insertId.trim() === '') return createRecordId('amplitude', record);
  const key = ['app', 'device_id', 'user_id', 'amplitude_id', 'event_type', 'event_time'];
  return createEventId(['amplitude', insertId, ...key.map((field) => readText(record[field]) ?? '')]);
}
