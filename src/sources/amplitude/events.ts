import type { MappedEvent } from '../../contract/event.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../contract/outcome.ts';
import { PropertyList } from '../../lib/json/property-list.ts';
import { readField } from '../../lib/json/record-view.ts';
import { shown } from '../../lib/preview.ts';
import { toDistinctId } from '../mapping/distinct-id.ts';
import { createEventId, createRecordId, type IdFrom, readUuid } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { readText } from '../mapping/identity.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import { asFieldsOrText, type Fields, hasValue } from '../mapping/table.ts';
import { createReadIso } from '../mapping/timestamp.ts';
import type { MapRecord, OnNote, WithTimezone } from '../source.ts';
import type { AmplitudeOptions } from './options.ts';
import { createMapFacts, readGroups } from './persons.ts';
import type { AmplitudeRules } from './rules.ts';

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

export function createAmplitudeMap(
  options: AmplitudeOptions & WithTimezone,
  rules: AmplitudeRules,
  idFrom: IdFrom,
  onNote: OnNote,
): MapRecord<MappedEvent> {
  const { ids, takesAmplitudeId, timeFields, describe, setLibrary, finish } = rules;
  const mapFacts = createMapFacts(rules);
  const idNames = takesAmplitudeId ? 'user_id, device_id and amplitude_id' : 'user_id and device_id';
  // Already corrected for the clock of the client, in UTC, written without saying so.
  const readTime = createReadIso(options.timezone);
  const dropped = new Set(options.dropEvents);
  const groupTypes = options.groupTypes && new Set(options.groupTypes);

  return function mapAmplitude(record): MapOutcome<MappedEvent> {
    const type = readText(record['event_type']) ?? '';
    if (dropped.has(type)) return skipped('excluded_by_manifest');

    const userId = ids.read(record['user_id']);
    const deviceId = ids.read(record['device_id']);
    const lastId = takesAmplitudeId ? ids.read(record['amplitude_id']) : undefined;
    const distinctId = toDistinctId(userId ?? deviceId ?? lastId, idNames);
    const timeField = timeFields.find((field) => hasValue(record[field])) ?? 'event_time';
    const time = readRecordTime(record[timeField], timeField, readTime);
    const isMarker = SESSION_MARKERS.has(type) && !options.keepSessionMarkers;

    if (type === '$groupidentify') {
      if (isRejected(time)) return time;
      return skipped('feeds_groups', mapFacts(record, { time, ids, groupTypes }));
    }
    if (isRejected(distinctId)) return isMarker ? skipped('session_marker') : distinctId;
    if (isRejected(time)) return isMarker ? skipped('session_marker') : time;
    const facts = mapFacts(record, { time, ids, groupTypes, distinctId, userId, deviceId });
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
    describe(properties, record, ownFields);
    if (elementEvent) properties.set('$event_type', elementEvent);
    if (hasValue(record['ip_address'])) properties.set('$ip', record['ip_address']);
    if (options.userPropertiesOnEvents && hasValue(record['user_properties'])) {
      properties.set('amplitude_user_properties', record['user_properties']);
    }
    setLibrary(properties, record['library']);
    setSession(properties, record, time);
    const groups = readGroups(record['groups'], { ids, groupTypes });
    if (groups.keys) properties.set('$groups', groups.keys);
    if (groups.others) properties.set('amplitude_other_groups', groups.others);
    finish(properties, record);

    const uuid = idFrom === 'record' ? createRecordId('amplitude', record) : createAmplitudeUuid(record);
    return mapped([{ event, uuid, timestamp: time, properties }], facts, knownId);
  }

  /** session_id is the session's start in epoch ms on its device; -1 means outside of any session. */
  function setSession(properties: PropertyList, record: Fields, time: string): void {
    const session = record['session_id'];
    if (!hasValue(session) || session === -1 || session === '-1') return;
    const id = rules.readSession(record, readText(session) ?? '', time);
    if (id !== undefined) properties.set('$session_id', id);
    else {
      properties.set('amplitude_session_id', session);
      onNote('no_session_id');
    }
  }
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
