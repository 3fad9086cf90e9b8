import type { MappedEvent } from '../../contract/event.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../contract/outcome.ts';
import { PropertyList } from '../../lib/json/property-list.ts';
import { shown } from '../../lib/preview.ts';
import { readLongGroupKey } from '../mapping/distinct-id.ts';
import { createRecordId, type IdFrom } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { hearUnsaid } from '../mapping/hear-unsaid.ts';
import { readText } from '../mapping/identity.ts';
import { isRejected } from '../mapping/record-time.ts';
import { asFields, compileTable, type Fields, hasValue, listFields } from '../mapping/table.ts';
import type { MapsByVersion } from '../mapping/versioned-map.ts';
import type { MapRecord, OnNote, WithTimezone } from '../source.ts';
import { readGivenTime } from './call-time.ts';
import { createHear } from './hear.ts';
import type { CallOptions } from './options.ts';
import {
  mapAlias,
  mapGroup,
  mapIdentify,
  mapMerge,
  readDistinctId,
  readGroupType,
  readPair,
  readSeen,
  readUser,
  rejectBadTraits,
} from './persons.ts';
import {
  type CallDialect,
  type CallRules,
  createRules1,
  createRules2,
  createRules3,
  createRules4,
  type EventCall,
} from './rules.ts';
import { CONTEXT_3, NAMED, RULED_FIELDS } from './tables.ts';

const applyNamed = compileTable(NAMED);

export const listCallFields = (dialect: CallDialect): ReadonlySet<string> =>
  new Set([...[CONTEXT_3, NAMED, dialect.table].flatMap(listFields), ...RULED_FIELDS]);

/** The maps of a dialect by version. */
export const createCallMaps = (dialect: CallDialect): MapsByVersion<CallOptions & WithTimezone> => ({
  1: (options, idFrom, note) =>
    createCallMap(dialect, options, createRules1(dialect, options, note), idFrom, note),
  2: (options, idFrom, note) =>
    createCallMap(dialect, options, createRules2(dialect, options, note), idFrom, note),
  3: (options, idFrom, note, findPlace) =>
    createCallMap(dialect, options, createRules3(dialect, options, note, findPlace), idFrom, note),
  4: (options, idFrom, note, findPlace) =>
    createCallMap(dialect, options, createRules4(dialect, options, note, findPlace), idFrom, note),
});

function createCallMap(
  dialect: CallDialect,
  options: CallOptions & WithTimezone,
  rules: CallRules,
  idFrom: IdFrom,
  onNote: OnNote,
): MapRecord<MappedEvent> {
  const { ids } = rules;
  const dropped = new Set(options.dropEvents);
  const groupType = readGroupType(options.groupType);

  return hearUnsaid(mapCall, createHear(ids));

  function mapCall(record: Fields): MapOutcome<MappedEvent> {
    const type = record['type'];
    const isDropped = dropped.size > 0 && dropped.has(readDroppedName(record, type));
    if (isDropped && !rules.hearsDropped) return skipped('excluded_by_manifest');

    const given = readGivenTime(record, rules.readTime);
    if (isRejected(given)) return isDropped ? skipped('excluded_by_manifest') : given;
    const time = rules.correctTime(record, given);
    if (isDropped) {
      const pair = readPair(record, time, ids);
      return skipped('excluded_by_manifest', pair, readUser(record, ids), readSeen(record, time, ids));
    }

    switch (type) {
      case 'track':
      case 'page':
      case 'screen':
        return mapEvent(record, type, given, time);
      case 'identify':
        return (
          (rules.rejectsBadTraits ? rejectBadTraits(record, ['context', 'context.traits']) : undefined) ??
          withSeen(mapIdentify(record, time, ids), record, time)
        );
      case 'alias':
        return mapAlias(record, time, ids, rules.saysNames);
      case 'group':
        return (
          (rules.rejectsBadTraits ? rejectBadTraits(record, ['traits']) : undefined) ??
          mapGroup(record, time, ids, rules.readGroupOf)
        );
      default:
        if (type === 'merge' && dialect.source === 'rudderstack' && rules.saysNames)
          return mapMerge(record, time, ids);
        return rejected(
          'bad_field',
          `type is ${shown(type)}; a call is one of track, page, screen, identify, alias, group`,
        );
    }
  }

  function withSeen(outcome: MapOutcome<MappedEvent>, record: Fields, time: string) {
    return rules.saysNames && outcome.kind === 'skipped'
      ? { ...outcome, seen: readSeen(record, time, ids) }
      : outcome;
  }

  function mapEvent(record: Fields, type: EventCall, given: string, time: string): MapOutcome<MappedEvent> {
    const event =
      type === 'track' ? readEventName(record['event'], 'event') : type === 'page' ? '$pageview' : '$screen';
    if (isRejected(event)) return event;
    const distinctId = readDistinctId(record, ids);
    if (isRejected(distinctId)) return distinctId;
    const own = record['properties'];
    const ownFields = asFields(own);
    if (hasValue(own) && !ownFields) {
      return rejected('bad_field', `properties is ${shown(own)}; an object was expected`);
    }

    const properties = new PropertyList();
    properties.set('distinct_id', distinctId);
    rules.applyContext(properties, record);
    if (type !== 'track') applyNamed(properties, record);
    // After the context: a `title` or `utm_source` of the customer's own stays theirs.
    if (ownFields) rules.copyOwn(properties, ownFields, type);
    if (type === 'screen') {
      const name = rules.readScreenName(record, ownFields);
      if (hasValue(name)) rules.set(properties, '$screen_name', name);
    }
    if (rules.host) setHost(properties, rules.host);
    const ofGroup = asFields(record['context'])?.['groupId'];
    const groupId = ids.readSendable(ofGroup);
    if (groupId !== undefined) properties.set('$groups', { [groupType]: groupId });
    else if (readLongGroupKey(ofGroup, ids) !== undefined) onNote('long_group_key');
    rules.setSession(properties, record, time);
    rules.keepUnread(properties, record, type, ids);
    rules.finish(properties, record);

    // The time that the call gives: a retry is corrected by its own arrival.
    const uuid =
      idFrom === 'record'
        ? createRecordId(dialect.source, record)
        : rules.createId(dialect.source, record, { event, distinctId, time: given });
    const facts = readPair(record, time, ids);
    const said = rules.readContextFacts(record, distinctId, time);
    if (said) facts.push(said);
    const seen = rules.saysNames ? readSeen(record, time, ids) : undefined;
    return mapped([{ event, uuid, timestamp: time, properties }], facts, readUser(record, ids), seen);
  }
}

/** The name under which a call is dropped; only events are. */
function readDroppedName(record: Fields, type: unknown): string {
  if (type === 'track') return readText(record['event']) ?? '';
  if (type === 'page') return '$pageview';
  return type === 'screen' ? '$screen' : '';
}

function setHost(properties: PropertyList, pattern: RegExp): void {
  const url = properties.get('$current_url');
  const host = typeof url === 'string' ? pattern.exec(url)?.[1] : undefined;
  if (host !== undefined && (properties.get('$host') ?? null) === null) properties.set('$host', host);
}
