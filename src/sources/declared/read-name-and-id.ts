import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { createEventId, type IdFrom, readUuid } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { readText } from '../mapping/identity.ts';
import type { Fields } from '../mapping/table.ts';
import { createReadColumn } from './declared-columns.ts';
import type { DeclaredMapping } from './options.ts';

/** The name of an event as it is exported, and as it is sent. */
export function createReadName(mapping: DeclaredMapping, nullValues: ReadonlySet<string>) {
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
export function createReadUuid(mapping: DeclaredMapping, nullValues: ReadonlySet<string>, idFrom: IdFrom) {
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

/** What messages call a column, or several of which the first with a value counts. */
export const joinNames = (column: string | readonly string[]): string =>
  typeof column === 'string' ? column : column.join(', ');
