import type { MappedEvent } from '../../contract/event.ts';
import type { Heard } from '../../contract/heard.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, mapped, skipped } from '../../contract/outcome.ts';
import type { PropertyList } from '../../lib/json/property-list.ts';
import { type IdRules, rejectLongGroupKey, toDistinctId } from '../mapping/distinct-id.ts';
import type { IdFrom } from '../mapping/event-id.ts';
import { hearUnsaid, withHeard } from '../mapping/hear-unsaid.ts';
import { ID_MAX_LENGTH } from '../mapping/identity.ts';
import { createRenames } from '../mapping/properties.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import type { Fields } from '../mapping/table.ts';
import { createReadTime } from '../mapping/timestamp.ts';
import type { WithTimezone } from '../source.ts';
import { createReadColumn, createReadIdColumn } from './declared-columns.ts';
import { createReadIds, hearIds } from './ids.ts';
import { isEmptyObject } from './name-rules.ts';
import type { DeclaredOptions } from './options.ts';
import { createReadName, createReadUuid, joinNames } from './read-name-and-id.ts';
import type { CreateSortColumns } from './sort-columns.ts';
import type { PreparedRecord } from './values/prepare-record.ts';

/** What differs between versions of the mapping. */
export interface DeclaredRules {
  readonly ids: IdRules;
  readonly createSortColumns: CreateSortColumns;
  /** Whether a record is rejected for the key of a group that is longer than can be sent, or goes without it. */
  readonly rejectsLongKeys: boolean;
  /** Whether records that the manifest drops say which ids are one person. */
  readonly hearsDropped: boolean;
  /** Sets what follows from the properties that are set. */
  readonly finish: (properties: PropertyList) => void;
}

/** `index`: place of the item that it is of. `isBare`: it is of no item, and no event is made of it, so it needs no name. */
export interface Row extends PreparedRecord {
  readonly index?: number;
  readonly isBare?: boolean;
}

export interface DeclaredMap {
  readonly mapRow: (row: Row) => MapOutcome<MappedEvent>;
  readonly hear: (row: Pick<Row, 'ids'>) => Heard | undefined;
}

export const toRow = (record: Fields): Row => ({ record, hashed: record, ids: record });

const RESERVED = createRenames();

/** Maps records of no vendor in particular: the manifest declares which column holds what. */
export function createDeclaredMap(
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

  function mapDeclared({
    record,
    hashed,
    ids: idFields,
    index,
    isBare = false,
  }: Row): MapOutcome<MappedEvent> {
    const name = readName(record);
    // By its name as exported, which a value map may have changed.
    const isDropped =
      dropped.size > 0 && dropped.has(hashed === record ? name.exported : readName(hashed).exported);
    if (isDropped && !hearsDropped) return skipped('excluded_by_manifest');
    const event = isDropped || (isBare && isRejected(name.event)) ? name.exported : name.event;
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
