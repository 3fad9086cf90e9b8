import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, type Rejected, rejected, skipped } from '../../contract/outcome.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { shown } from '../../lib/preview.ts';
import { readSendableId, toDistinctId } from '../mapping/distinct-id.ts';
import { createEventId, readUuid } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { readText } from '../mapping/identity.ts';
import { copyProperties } from '../mapping/properties.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import { asFields, type Fields } from '../mapping/table.ts';
import { createReadTime } from '../mapping/timestamp.ts';
import type { MapRecord, WithTimezone } from '../source.ts';
import { createPlaceColumn, declaredRenames } from './column-plan.ts';
import { createReadColumn, createReadIdColumn, isNull } from './declared-columns.ts';
import { NOT_JSON, parseJsonCell } from './json-cell.ts';
import type { DeclaredMapping, DeclaredOptions } from './options.ts';

/** Maps records of no vendor in particular: the manifest declares which column holds what. */
export function createDeclaredMap(options: DeclaredOptions & WithTimezone): MapRecord {
  const { mapping } = options;
  const nullValues = new Set(mapping.nullValues);
  const readColumn = (column: string | readonly string[]) => createReadColumn(column, nullValues);
  const readId = (column: string | readonly string[]) => createReadIdColumn(column, nullValues);

  const readName = createReadName(mapping, nullValues);
  const readPerson = readId(mapping.distinctId.column);
  // Only the first column names a known person; those after it are ids of the anonymous themselves.
  const readKnown = readId([mapping.distinctId.column].flat().slice(0, 1));
  const readAnonymous = mapping.anonymousId && readId(mapping.anonymousId.column);
  const readStamp = readColumn(mapping.timestamp.column);
  const { format } = mapping.timestamp;
  const stampField = joinNames(mapping.timestamp.column);
  const readTime = createReadTime(format, options.timezone);
  const readGroupKeys = mapping.groups.map(({ column }) => readId(column));
  const readUuid = createReadUuid(mapping, nullValues);
  const sortColumns = createSortColumns(mapping, nullValues);
  const dropped = new Set(options.dropEvents);

  return function mapDeclared(record): MapOutcome {
    const { exported, event } = readName(record);
    if (dropped.has(exported)) return skipped('excluded_by_manifest');
    if (isRejected(event)) return event;
    const distinctId = toDistinctId(readPerson(record), joinNames(mapping.distinctId.column));
    if (isRejected(distinctId)) return distinctId;
    const time = readRecordTime(readStamp(record), stampField, readTime, format);
    if (isRejected(time)) return time;
    const columns = sortColumns(record);
    if ('kind' in columns) return columns;

    const facts: IdentityFact[] = [];
    const anonId = readSendableId(readAnonymous?.(record));
    if (anonId !== undefined && anonId !== distinctId && readKnown(record) === distinctId) {
      facts.push({ kind: 'pair', anonId, userId: distinctId, time });
    }
    const { set, setOnce } = columns;
    if (!isEmpty(set) || !isEmpty(setOnce)) {
      const both = { ...(isEmpty(set) ? {} : { set }), ...(isEmpty(setOnce) ? {} : { setOnce }) };
      facts.push({ kind: 'person', distinctId, time, ...both });
    }

    const groups: Record<string, string> = {};
    mapping.groups.forEach(({ type }, index) => {
      const groupKey = readSendableId(readGroupKeys[index]?.(record));
      if (groupKey === undefined) return;
      groups[type] = groupKey;
      const groupSet = columns.groups[index];
      if (!groupSet || isEmpty(groupSet)) return;
      facts.push({ kind: 'group', groupType: type, groupKey, time, set: groupSet });
    });

    const properties = Object.assign(columns.event, { distinct_id: distinctId });
    if (!isEmpty(groups)) properties['$groups'] = groups;
    // The import is sent from another address than the person had.
    properties['$geoip_disable'] = true;
    return mapped([{ event, uuid: readUuid(record, event, time), timestamp: time, properties }], facts);
  };
}

function createReadName(mapping: DeclaredMapping, nullValues: ReadonlySet<string>) {
  if ('constant' in mapping.event) {
    const name = mapping.event.constant;
    const event = readEventName(name, 'mapping.event.constant');
    return () => ({ exported: name, event });
  }
  const field = joinNames(mapping.event.column);
  const read = createReadColumn(mapping.event.column, nullValues);
  return (record: Fields) => {
    const exported = readText(read(record));
    const name = exported === undefined ? undefined : mapping.eventPrefix + exported;
    return { exported: exported ?? '', event: readEventName(name, field) };
  };
}

/**
 * A declared uuid, else over the declared key, else over the whole record. The event's name is part
 * of both: one table may be imported under two names, and be two events then.
 */
function createReadUuid(mapping: DeclaredMapping, nullValues: ReadonlySet<string>) {
  const readDeclared = mapping.uuid && createReadColumn(mapping.uuid.column, nullValues);
  const key = (mapping.key ?? []).map((name) => ({ name, read: createReadColumn(name, nullValues) }));
  return (record: Fields, event: string, time: string): string => {
    const uuid = readUuid(readDeclared?.(record));
    if (uuid !== undefined) return uuid;
    const values = key.map(({ read }) => read(record));
    if (values.every((value) => value === undefined)) {
      return createEventId(['declared', 'record', event, time, canonicalJson(record)]);
    }
    const parts = key.flatMap(({ name }, index) => [name, keyText(values[index])]);
    return createEventId(['declared', 'key', event, ...parts]);
  };
}

/** "no value" and an empty text stay two things; 7 in JSON and "7" in a CSV are one. */
function keyText(value: unknown): string {
  return value === undefined ? '' : `=${readText(value) ?? canonicalJson(value)}`;
}

interface SortedColumns {
  readonly event: Record<string, unknown>;
  readonly set: Record<string, unknown>;
  readonly setOnce: Record<string, unknown>;
  /** By position in `mapping.groups`. */
  readonly groups: readonly Record<string, unknown>[];
}

/** Sorts a record's columns into what they describe. A column's own name wins over a spread field's. */
function createSortColumns(mapping: DeclaredMapping, nullValues: ReadonlySet<string>) {
  const placeColumn = createPlaceColumn(mapping);
  const renames = declaredRenames(mapping);
  const jsonColumns = new Set(mapping.jsonColumns);
  const spreads = mapping.spreadColumns.map((name) => ({ name, read: createReadColumn(name, nullValues) }));
  const readCell = (column: string, value: unknown) =>
    jsonColumns.has(column) && typeof value === 'string' ? parseJsonCell(value) : value;

  return (record: Fields): SortedColumns | Rejected => {
    const sorted: SortedColumns = { event: {}, set: {}, setOnce: {}, groups: mapping.groups.map(() => ({})) };
    for (const { name, read } of spreads) {
      const value = read(record);
      if (value === undefined) continue;
      const fields = asFields(readCell(name, value));
      if (!fields) return rejected('bad_field', `${name} is ${shown(value)}; an object was expected`);
      copyProperties(sorted.event, fields, renames);
    }
    for (const column of Object.keys(record)) {
      const place = placeColumn(column);
      if (place.kind === 'nowhere' || isNull(record[column], nullValues)) continue;
      const value = readCell(column, record[column]);
      if (value === NOT_JSON) {
        return rejected(
          'bad_field',
          `${column} is ${shown(record[column])}; the manifest says it holds JSON`,
        );
      }
      const target = place.kind === 'group' ? sorted.groups[place.group] : sorted[place.kind];
      if (target) target[place.name] = value;
    }
    return sorted;
  };
}

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0;

const joinNames = (column: string | readonly string[]): string =>
  typeof column === 'string' ? column : column.join(', ');
