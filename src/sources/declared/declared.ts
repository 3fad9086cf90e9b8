import type { MappedEvent } from '../../contract/event.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../contract/outcome.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import type { PropertyList } from '../../lib/json/property-list.ts';
import type { FindPlace } from '../../lib/places.ts';
import {
  exactIds,
  type IdRules,
  rejectLongGroupKey,
  toDistinctId,
  trimmedIds,
} from '../mapping/distinct-id.ts';
import { createEventId, type IdFrom, readUuid } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { ID_MAX_LENGTH, readText } from '../mapping/identity.ts';
import { createRenames } from '../mapping/properties.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import type { Fields } from '../mapping/table.ts';
import { createReadTime } from '../mapping/timestamp.ts';
import type { MapsByVersion } from '../mapping/versioned-map.ts';
import { createEnrichWeb } from '../mapping/web/enrich-web.ts';
import type { MapRecord, OnNote, WithGeoip, WithTimezone } from '../source.ts';
import { createReadColumn, createReadIdColumn } from './declared-columns.ts';
import { isEmptyObject } from './name-rules.ts';
import type { DeclaredMapping, DeclaredOptions } from './options.ts';
import { type CreateSortColumns, createSortColumns, createSortColumnsFirst } from './sort-columns.ts';
import { createPrepareRecord, type PreparedRecord } from './values/prepare-record.ts';
import { createUnnest } from './values/unnest.ts';

/** What differs between versions of the mapping. */
interface DeclaredRules {
  readonly ids: IdRules;
  readonly createSortColumns: CreateSortColumns;
  /** Whether a record is rejected for the key of a group that is longer than can be sent, or goes without it. */
  readonly rejectsLongKeys: boolean;
  /** Whether records that the manifest drops say which ids are one person. */
  readonly hearsDropped: boolean;
  /** Sets what follows from the properties that are set. */
  readonly finish: (properties: PropertyList) => void;
}

/** Records of no vendor in particular, as JSON or CSV: the maps by version. */
export const declaredMaps: MapsByVersion<DeclaredOptions & WithTimezone & WithGeoip> = {
  1: (options, idFrom) =>
    createDeclaredMap(
      options,
      {
        ids: exactIds,
        createSortColumns: createSortColumnsFirst,
        rejectsLongKeys: false,
        hearsDropped: false,
        finish,
      },
      idFrom,
    ),
  2: (options, idFrom) =>
    createDeclaredMap(
      options,
      { ids: trimmedIds, createSortColumns, rejectsLongKeys: false, hearsDropped: false, finish },
      idFrom,
    ),
  3: createThirdMap,
};

/** Of the first versions: the import is sent from another address than the person had. */
const finish = (properties: PropertyList): void => properties.set('$geoip_disable', true);

/**
 * Prepares the values of a record, makes a row of each item where a list is unnested, and maps the rows: a record
 * is sent with all of its events, or rejected.
 */
function createThirdMap(
  options: DeclaredOptions & WithTimezone & WithGeoip,
  idFrom: IdFrom,
  _onNote: OnNote,
  findPlace: FindPlace | undefined,
  hashKey: string | undefined,
): MapRecord<MappedEvent> {
  const { mapping, geoip } = options;
  const enrich = createEnrichWeb({ geoip, findPlace });
  // A file without a column of referrers says nothing of them.
  const namesReferrer = Object.values(mapping.rename).includes('$referrer');
  const rules: DeclaredRules = {
    ids: trimmedIds,
    createSortColumns: (of, nulls) => createSortColumns(of, nulls, { renamesInLists: true, keepsAll: true }),
    rejectsLongKeys: true,
    hearsDropped: true,
    finish: (properties) => enrich(properties, namesReferrer),
  };
  const nullValues = new Set(mapping.nullValues);
  const mapRow = createDeclaredMap(options, rules, idFrom);
  const prepare = createPrepareRecord(mapping, { nullValues, hashKey });
  const unnest = mapping.unnest && createUnnest(mapping.unnest.column, nullValues);
  if (!prepare && !unnest) return (record) => mapRow(record);

  return (exported) => {
    const prepared = prepare ? prepare(exported) : { record: exported, hashed: exported, ids: exported };
    if ('kind' in prepared) return prepared;
    if (!unnest) return mapRow(prepared.record, prepared);
    const rows = unnest(prepared);
    if ('kind' in rows) return rows;
    return joinRows(
      rows.map((row, index) => mapRow(row.record, row, index)),
      mapping.unnest?.column ?? '',
    );
  };
}

/** The outcome of a record from those of its rows. */
function joinRows(rows: readonly MapOutcome<MappedEvent>[], column: string): MapOutcome<MappedEvent> {
  const events: MappedEvent[] = [];
  const facts: IdentityFact[] = [];
  const users = new Set<string>();
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'rejected') return rejected(row.reason, `${column}[${index}]: ${row.detail}`);
    if (row.kind === 'mapped') events.push(...row.events);
    facts.push(...row.facts);
    if (row.userId !== undefined) users.add(row.userId);
  }
  const [userId, ...otherUserIds] = users;
  const outcome =
    events.length === 0 ? skipped('excluded_by_manifest', facts, userId) : mapped(events, facts, userId);
  return otherUserIds.length === 0 ? outcome : { ...outcome, otherUserIds };
}

/** Maps records of no vendor in particular: the manifest declares which column holds what. */
function createDeclaredMap(
  options: DeclaredOptions & WithTimezone,
  { ids, createSortColumns, rejectsLongKeys, hearsDropped, finish }: DeclaredRules,
  idFrom: IdFrom,
): MapRow {
  const { mapping } = options;
  const nullValues = new Set(mapping.nullValues);
  const readColumn = (column: string | readonly string[]) => createReadColumn(column, nullValues);
  const readId = (column: string | readonly string[]) => createReadIdColumn(column, { ids, nullValues });

  const readName = createReadName(mapping, nullValues);
  const readPerson = readId(mapping.distinctId.column);
  // Only the first column names a known person; those after it are ids of the anonymous themselves.
  const readKnown = readId([mapping.distinctId.column].flat().slice(0, 1));
  const hasOneColumn = [mapping.distinctId.column].flat().length === 1;
  const readAnonymous = mapping.anonymousId && readId(mapping.anonymousId.column);
  const readStamp = readColumn(mapping.timestamp.column);
  const { format } = mapping.timestamp;
  const stampField = joinNames(mapping.timestamp.column);
  const readTime = createReadTime(format, options.timezone);
  const readGroupKeys = mapping.groups.map(({ column }) => readId(column));
  const readUuid = createReadUuid(mapping, nullValues, idFrom);
  const sortColumns = createSortColumns(mapping, nullValues);
  const dropped = new Set(options.dropEvents);
  const constants = Object.entries(mapping.constants ?? {}).map(
    ([name, value]) => [RESERVED.get(name) ?? name, value] as const,
  );

  return function mapDeclared(record, prepared, index): MapOutcome<MappedEvent> {
    const { hashed, ids: idFields } = prepared ?? { hashed: record, ids: record };
    const name = readName(record);
    // By its name as exported, which a value map may have changed.
    const isDropped =
      dropped.size > 0 && dropped.has(hashed === record ? name.exported : readName(hashed).exported);
    if (isDropped && !hearsDropped) return skipped('excluded_by_manifest');
    const event = isDropped ? name.exported : name.event;
    if (isRejected(event)) return event;
    const distinctId = toDistinctId(readPerson(idFields), joinNames(mapping.distinctId.column));
    if (isRejected(distinctId)) return isDropped ? skipped('excluded_by_manifest') : distinctId;
    const time = readRecordTime(readStamp(record), stampField, readTime, format);
    if (isRejected(time)) return isDropped ? skipped('excluded_by_manifest') : time;

    const facts: IdentityFact[] = [];
    const anonId = ids.readSendable(readAnonymous?.(idFields));
    const isKnown = hasOneColumn || readKnown(idFields) === distinctId;
    if (anonId !== undefined && anonId !== distinctId && isKnown) {
      facts.push({ kind: 'pair', anonId, userId: distinctId, time });
    }
    // One column alone may hold both kinds of ids; an id that is also the anonymous one is then no user.
    const isUser = ids.marksUsers && isKnown && !(hasOneColumn && anonId === distinctId);
    if (isDropped) return skipped('excluded_by_manifest', facts, isUser ? distinctId : undefined);
    const columns = sortColumns(record);
    if ('kind' in columns) return columns;
    const { set, setOnce } = columns;
    if (!isEmptyObject(set) || !isEmptyObject(setOnce)) {
      const both = { ...(isEmptyObject(set) ? {} : { set }), ...(isEmptyObject(setOnce) ? {} : { setOnce }) };
      facts.push({ kind: 'person', distinctId, time, ...both });
    }

    const groups: Record<string, string> = {};
    for (const [index, { type, column }] of mapping.groups.entries()) {
      const groupKey = readGroupKeys[index]?.(idFields);
      if (groupKey === undefined || !ids.isGroupType(type)) continue;
      if (groupKey.length > ID_MAX_LENGTH) {
        if (rejectsLongKeys) return rejectLongGroupKey(groupKey, joinNames(column));
        continue;
      }
      groups[type] = groupKey;
      const groupSet = columns.groups[index];
      if (!groupSet || isEmptyObject(groupSet)) continue;
      facts.push({ kind: 'group', groupType: type, groupKey, time, set: groupSet });
    }

    const properties = columns.event;
    for (const [name, value] of constants) properties.set(name, value);
    properties.set('distinct_id', distinctId);
    if (!isEmptyObject(groups)) properties.set('$groups', groups);
    finish(properties);
    return mapped(
      [{ event, uuid: readUuid(hashed, event, time, index), timestamp: time, properties }],
      facts,
      isUser ? distinctId : undefined,
    );
  };
}

/** `prepared`: the record in its other forms, where it has any; `index`: place of the item that it is of. */
type MapRow = (
  record: Fields,
  prepared?: Omit<PreparedRecord, 'record'>,
  index?: number,
) => MapOutcome<MappedEvent>;

const RESERVED = createRenames();

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
function createReadUuid(mapping: DeclaredMapping, nullValues: ReadonlySet<string>, idFrom: IdFrom) {
  const isDeclared = idFrom === 'vendor';
  const readDeclared =
    isDeclared && mapping.uuid ? createReadColumn(mapping.uuid.column, nullValues) : undefined;
  const key = (isDeclared ? (mapping.key ?? []) : []).map((name) => ({
    name,
    read: createReadColumn(name, nullValues),
  }));
  const { unnest } = mapping;
  const isOfItem = [mapping.uuid?.column ?? []].flat().every((name) => name.startsWith(`${unnest?.column}.`));
  return (record: Fields, event: string, time: string, index?: number): string => {
    const item = index === undefined ? [] : ['item', String(index)];
    const uuid = readUuid(readDeclared?.(record));
    if (uuid !== undefined)
      return index === undefined || isOfItem
        ? uuid
        : createEventId(['declared', 'uuid', event, uuid, ...item]);
    const values = key.map(({ read }) => read(record));
    if (values.every((value) => value === undefined)) {
      return createEventId(['declared', 'record', event, time, canonicalJson(record), ...item]);
    }
    const parts = key.flatMap(({ name }, index) => [name, keyText(values[index])]);
    return createEventId(['declared', 'key', event, ...parts, ...item]);
  };
}

/** "no value" and an empty text stay two things; 7 in JSON and "7" in a CSV are one. */
function keyText(value: unknown): string {
  return value === undefined ? '' : `=${readText(value) ?? canonicalJson(value)}`;
}

const joinNames = (column: string | readonly string[]): string =>
  typeof column === 'string' ? column : column.join(', ');
