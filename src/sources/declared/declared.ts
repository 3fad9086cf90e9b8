import type { MappedEvent } from '../../contract/event.ts';
import { type Heard, joinHeard, toHeard } from '../../contract/heard.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, type Rejected, rejected, skipped } from '../../contract/outcome.ts';
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
import { hearUnsaid, withHeard } from '../mapping/hear-unsaid.ts';
import { ID_MAX_LENGTH, readText } from '../mapping/identity.ts';
import { createRenames } from '../mapping/properties.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import type { Fields } from '../mapping/table.ts';
import { createReadTime } from '../mapping/timestamp.ts';
import type { MapsByVersion } from '../mapping/versioned-map.ts';
import { createEnrichWeb } from '../mapping/web/enrich-web.ts';
import type { MapRecord, OnNote, WithGeoip, WithTimezone } from '../source.ts';
import { createReadColumn, createReadIdColumn } from './declared-columns.ts';
import { createReadIds, hearIds } from './ids.ts';
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
    createPlainMap(
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
    createPlainMap(
      options,
      { ids: trimmedIds, createSortColumns, rejectsLongKeys: false, hearsDropped: false, finish },
      idFrom,
    ),
  3: createThirdMap,
};

/** Of the first versions: the import is sent from another address than the person had. */
const finish = (properties: PropertyList): void => properties.set('$geoip_disable', true);

function createPlainMap(
  options: DeclaredOptions & WithTimezone,
  rules: DeclaredRules,
  idFrom: IdFrom,
): MapRecord<MappedEvent> {
  const { mapRow } = createDeclaredMap(options, rules, idFrom);
  return (record) => mapRow(toRow(record));
}

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
  const { mapRow, hear } = createDeclaredMap(options, rules, idFrom);
  const prepare = createPrepareRecord(mapping, { nullValues, hashKey });
  const unnest = mapping.unnest && createUnnest(mapping.unnest.column, nullValues);
  if (!prepare && !unnest) return (record) => mapRow(toRow(record));

  return (exported) => {
    const row: Row & { readonly bad?: Rejected | undefined } = prepare?.(exported) ?? toRow(exported);
    if (!unnest) return row.bad ? withHeard(row.bad, hear(row)) : mapRow(row);
    const items = unnest(row);
    const bad = row.bad ?? items.bad;
    if (bad) return withHeard(bad, joinHeard([...items.rows, items.takeBare()].map(hear)));
    if (items.rows.length === 0) return toNoItems(mapRow(items.takeBare()));
    return joinRows(
      items.rows.map((row, index) => mapRow({ ...row, index })),
      mapping.unnest?.column ?? '',
    );
  };
}

/** What a record without items says: everything but events. */
function toNoItems(row: MapOutcome<MappedEvent>): MapOutcome<MappedEvent> {
  if (row.kind === 'rejected') return withHeard(skipped('no_items'), row.heard);
  const [event] = row.kind === 'mapped' ? row.events : [];
  const outcome = withHeard(skipped('no_items', row.facts, row.userId), row.heard);
  return event ? { ...outcome, of: { timestamp: event.timestamp } } : outcome;
}

const toRow = (record: Fields): Row => ({ record, hashed: record, ids: record });

/** The outcome of a record from those of its rows. */
function joinRows(rows: readonly MapOutcome<MappedEvent>[], column: string): MapOutcome<MappedEvent> {
  const events: MappedEvent[] = [];
  const facts: IdentityFact[] = [];
  const users = new Set<string>();
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'rejected')
      return withHeard(
        rejected(row.reason, `${column}[${index}]: ${row.detail}`),
        joinHeard(rows.map(toHeard)),
      );
    if (row.kind === 'mapped') events.push(...row.events);
    facts.push(...row.facts);
    if (row.userId !== undefined) users.add(row.userId);
  }
  const [userId, ...otherUserIds] = users;
  const outcome =
    events.length === 0 ? skipped('excluded_by_manifest', facts, userId) : mapped(events, facts, userId);
  const all = withHeard(outcome, joinHeard(rows.map(({ heard }) => heard)));
  return otherUserIds.length === 0 ? all : { ...all, otherUserIds };
}

/** Maps records of no vendor in particular: the manifest declares which column holds what. */
function createDeclaredMap(
  options: DeclaredOptions & WithTimezone,
  { ids, createSortColumns, rejectsLongKeys, hearsDropped, finish }: DeclaredRules,
  idFrom: IdFrom,
): DeclaredMap {
  const { mapping } = options;
  const nullValues = new Set(mapping.nullValues);
  const readColumn = (column: string | readonly string[]) => createReadColumn(column, nullValues);
  const readId = (column: string | readonly string[]) => createReadIdColumn(column, { ids, nullValues });

  const readName = createReadName(mapping, nullValues);
  const readIds = createReadIds(mapping, readId);
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

  return { mapRow: hearUnsaid(mapDeclared, hear), hear };

  function mapDeclared({ record, hashed, ids: idFields, index }: Row): MapOutcome<MappedEvent> {
    const name = readName(record);
    // By its name as exported, which a value map may have changed.
    const isDropped =
      dropped.size > 0 && dropped.has(hashed === record ? name.exported : readName(hashed).exported);
    if (isDropped && !hearsDropped) return skipped('excluded_by_manifest');
    const event = isDropped ? name.exported : name.event;
    if (isRejected(event)) return event;
    const found = readIds(idFields);
    const distinctId = toDistinctId(found.distinctId, joinNames(mapping.distinctId.column));
    if (isRejected(distinctId)) return isDropped ? skipped('excluded_by_manifest') : distinctId;
    const time = readRecordTime(readStamp(record), stampField, readTime, format);
    if (isRejected(time)) return isDropped ? skipped('excluded_by_manifest') : time;

    const facts: IdentityFact[] = [];
    const anonId = ids.readSendable(found.anonId);
    if (anonId !== undefined && anonId !== distinctId && found.isKnown) {
      facts.push({ kind: 'pair', anonId, userId: distinctId, time });
    }
    const userId = ids.marksUsers && found.isUser ? distinctId : undefined;
    const heard = found.laterId === undefined ? undefined : hearIds(found);
    if (isDropped) return withHeard(skipped('excluded_by_manifest', facts, userId), heard);
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
    const outcome = mapped(
      [{ event, uuid: readUuid(hashed, event, time, index), timestamp: time, properties }],
      facts,
      userId,
    );
    return withHeard(outcome, heard);
  }

  /** What a row says about its ids whatever else is wrong with it. */
  function hear({ ids: idFields }: Pick<Row, 'ids'>): Heard | undefined {
    return hearIds(readIds(idFields));
  }
}

/** `index`: place of the item that it is of. */
interface Row extends PreparedRecord {
  readonly index?: number;
}

interface DeclaredMap {
  readonly mapRow: (row: Row) => MapOutcome<MappedEvent>;
  readonly hear: (row: Pick<Row, 'ids'>) => Heard | undefined;
}

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
