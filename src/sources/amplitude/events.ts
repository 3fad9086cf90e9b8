import type { MappedEvent } from '../../contract/event.ts';
import type { IdentityFact, Seen } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../contract/outcome.ts';
import { PropertyList } from '../../lib/json/property-list.ts';
import { readField } from '../../lib/json/record-view.ts';
import { shown } from '../../lib/preview.ts';
import { rejectLongGroupKey, toDistinctId } from '../mapping/distinct-id.ts';
import { createEventId, createRecordId, type IdFrom, readUuid } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { hearUnsaid } from '../mapping/hear-unsaid.ts';
import { readText } from '../mapping/identity.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import { asFieldsOrText, type Fields, hasValue } from '../mapping/table.ts';
import { createReadIso, createReadTime } from '../mapping/timestamp.ts';
import type { MapRecord, OnNote, WithTimezone } from '../source.ts';
import type { AmplitudeOptions } from './options.ts';
import { createHear, createMapFacts, findLongGroupKey, readGroups, readPair, readPerson } from './persons.ts';
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
  const { ids, takesAmplitudeId, rejectsLongKeys, hearsDropped, timeFields, describe, setLibrary, finish } =
    rules;
  const mapFacts = createMapFacts(rules);
  const idNames = takesAmplitudeId ? 'user_id, device_id and amplitude_id' : 'user_id and device_id';
  // Already corrected for the clock of the client, in UTC, written without saying so.
  const readTime = createReadIso(options.timezone);
  const dropped = new Set(options.dropEvents);
  const groupTypes = options.groupTypes && new Set(options.groupTypes);

  return hearUnsaid(mapAmplitude, createHear(rules));

  function mapAmplitude(record: Fields): MapOutcome<MappedEvent> {
    const type = readText(record['event_type']) ?? '';
    const isDropped = dropped.size > 0 && dropped.has(type);
    if (isDropped && !(hearsDropped && type !== '$groupidentify')) return skipped('excluded_by_manifest');
    if (type === '' && !takesAmplitudeId && hasValue(record['merged_amplitude_id']))
      return mapMergedIds(record);

    const userId = ids.read(record['user_id']);
    const deviceId = ids.read(record['device_id']);
    const lastId = takesAmplitudeId ? ids.read(record['amplitude_id']) : undefined;
    const distinctId = toDistinctId(userId ?? deviceId ?? lastId, idNames);
    const timeField = timeFields.find((field) => hasValue(record[field])) ?? 'event_time';
    const time = readRecordTime(record[timeField], timeField, readTime);
    const aside = isDropped
      ? 'excluded_by_manifest'
      : SESSION_MARKERS.has(type) && !options.keepSessionMarkers
        ? 'session_marker'
        : undefined;

    if (type === '$groupidentify') {
      if (isRejected(time)) return time;
      const longKey = findLongGroupKey(record, { ids, groupTypes });
      if (longKey !== undefined && rejectsLongKeys) return rejectLongGroupKey(longKey, 'group_properties');
      return skipped('feeds_groups', mapFacts(record, { time, ids, groupTypes }));
    }
    if (isRejected(distinctId)) return aside ? skipped(aside) : distinctId;
    if (isRejected(time)) {
      if (aside === undefined) return time;
      const whose = { time: '', ids, groupTypes, distinctId, userId, deviceId };
      const isLost = rules.rejectsUntimedMarkers && aside === 'session_marker';
      return isLost && mapFacts(record, whose).length > 0 ? time : skipped(aside);
    }
    const subject = { time, ids, groupTypes, distinctId, userId, deviceId };
    const facts = isDropped ? readPair(subject) : mapFacts(record, subject);
    const knownId = ids.marksUsers ? userId : undefined;
    const person = takesAmplitudeId ? undefined : readPerson(record, ids);
    const isUser = userId !== undefined;
    const seen = person === undefined ? undefined : { person, id: distinctId, isUser, time };
    if (aside) return skipped(aside, facts, knownId, seen);
    if (type === '$identify') return skipped('feeds_people', facts, knownId, seen);

    return mapEvent(record, type, { distinctId, knownId, seen }, time, facts);
  }

  /**
   * A row of a file of merged ids: both are one person from then on.
   * https://help.amplitude.com/hc/en-us/articles/360031075492-Exporting-Merged-User-ID-Mappings
   * https://amplitude.com/docs/data/destination-catalog/amazon-s3
   */
  function mapMergedIds(record: Fields): MapOutcome<MappedEvent> {
    const person = ids.read(record['amplitude_id']);
    const into = ids.read(record['merged_amplitude_id']);
    if (person === undefined || into === undefined)
      return rejected('no_identity', 'a row of merged ids needs amplitude_id and merged_amplitude_id');
    const field = MERGE_TIMES.find((name) => hasValue(record[name])) ?? MERGE_TIMES[0];
    const isNumber = /^\d+$/.test(readText(record[field]) ?? '');
    const time = isNumber
      ? readRecordTime(record[field], field, readMs, 'epoch_ms')
      : readRecordTime(record[field], field, readTime);
    if (isRejected(time)) return time;
    return skipped('merged_ids', [{ kind: 'join', person, into, time }]);
  }

  function mapEvent(
    record: Fields,
    type: string,
    { distinctId, knownId, seen }: Whose,
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
    // The value stays on the event, as those of other types do; what is said of the group is lost.
    if (findLongGroupKey(record, { ids, groupTypes }) !== undefined) onNote('long_group_key');
    const groups = readGroups(record['groups'], { ids, groupTypes });
    if (groups.keys) properties.set('$groups', groups.keys);
    if (groups.others) properties.set('amplitude_other_groups', groups.others);
    finish(properties, record);

    const uuid = idFrom === 'record' ? createRecordId('amplitude', record) : createAmplitudeUuid(record);
    return mapped([{ event, uuid, timestamp: time, properties }], facts, knownId, seen);
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

/** Text in exports to warehouses, milliseconds since 1970 in those to S3. */
const MERGE_TIMES = ['merge_event_time', 'merge_time', 'merge_server_time'] as const;
const readMs = createReadTime('epoch_ms', 'UTC');

interface Whose {
  readonly distinctId: string;
  readonly knownId: string | undefined;
  readonly seen: Seen | undefined;
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
