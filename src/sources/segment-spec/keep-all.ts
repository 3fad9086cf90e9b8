import { isDeepStrictEqual } from 'node:util';
import type { PropertyList } from '../../lib/json/property-list.ts';
import { type IdRules, readLongGroupKey } from '../mapping/distinct-id.ts';
import { readText } from '../mapping/identity.ts';
import { keepAside } from '../mapping/keep-aside.ts';
import { createRenames } from '../mapping/properties.ts';
import { asFields, type Fields, hasValue } from '../mapping/table.ts';
import type { CallRules } from './rules.ts';
import type { SetSession } from './session.ts';
import { PAGE_3 } from './tables.ts';

/* From version 4: a value that another one takes the name of is kept as `source_<name>`, and so is what nothing reads. */

/** Sets a property, and keeps what had its name. */
export function setAndKeep(properties: PropertyList, name: string, value: unknown): void {
  const before = properties.get(name);
  properties.set(name, value);
  keepReplaced(properties, name, before);
}

/** Keeps the earlier value of a property that was set again. */
function keepReplaced(properties: PropertyList, name: string, before: unknown): void {
  if (hasValue(before) && !isDeepStrictEqual(before, properties.get(name)))
    keepAside(properties, name, before);
}

/** Leaves behind what was kept of a property, and the customer's own under such a name. */
export function dropKept(properties: PropertyList, name: string): void {
  for (let kept = `source_${name}`; properties.has(kept); kept = `source_${kept}`) properties.delete(kept);
}

const RENAMES = createRenames();
const PAGE_ROWS = Object.entries(PAGE_3).map(([target, field]) => [target, String(field)] as const);
const PAGE_RENAMES = createRenames(PAGE_ROWS.map(([, field]) => [field, null]));

/** Own names last, so that none of them is taken by what is kept. */
export const copyAndKeep: CallRules['copyOwn'] = (properties, own, type) => {
  const replaced: (readonly [name: string, value: unknown])[] = [];
  const set = (name: string, value: unknown) => {
    const before = properties.get(name);
    if (hasValue(before) && !isDeepStrictEqual(before, value)) replaced.push([name, before]);
    properties.set(name, value);
  };
  const renames = type === 'page' ? PAGE_RENAMES : RENAMES;
  for (const name of Object.keys(own)) {
    const to = renames.get(name);
    if (to !== null) set(to ?? name, own[name]);
  }
  if (type === 'page')
    for (const [target, field] of PAGE_ROWS) if (hasValue(own[field])) set(target, own[field]);
  for (const [name, value] of replaced) keepAside(properties, name, value);
};

/** A session of the customer's own stays beside that of the context, under either name of it. */
export const keepOwnSession =
  (source: string, setSession: SetSession): SetSession =>
  (properties, record, time) => {
    const id = properties.get('$session_id');
    const given = properties.get(`${source}_session_id`);
    setSession(properties, record, time);
    keepReplaced(properties, '$session_id', id);
    keepReplaced(properties, `${source}_session_id`, given);
  };

/** What the customer says of places stays beside what the import says. */
export const keepOwnPlace =
  (finish: CallRules['finish']): CallRules['finish'] =>
  (properties, record) => {
    const before = properties.get('$geoip_disable');
    finish(properties, record);
    keepReplaced(properties, '$geoip_disable', before);
  };

/** Fields of a call, and the calls that read them. */
const READ_BY: Readonly<Record<string, readonly string[]>> = {
  event: ['track'],
  name: ['page', 'screen'],
  category: ['page', 'screen'],
  groupId: ['group'],
  previousId: ['alias'],
};

/** Whether a call of that type reads a field that some calls read. */
export const isReadBy = (field: string, type: unknown): boolean =>
  !Object.hasOwn(READ_BY, field) || READ_BY[field]?.includes(String(type)) === true;

/** Keeps what no rule reads of an event: fields of other calls, and what is not of its type. */
export function keepUnread(properties: PropertyList, record: Fields, type: string, ids: IdRules): void {
  for (const field of Object.keys(READ_BY)) {
    const value = record[field];
    if (!hasValue(value) || isReadBy(field, type)) continue;
    // The name of a screen that has no other.
    if (type === 'screen' && field === 'event' && isDeepStrictEqual(properties.get('$screen_name'), value))
      continue;
    keepAside(properties, field, value);
  }
  const context = asFields(record['context']);
  if (!context) {
    if (hasValue(record['context'])) setAndKeep(properties, 'context', record['context']);
    return;
  }
  const { traits, groupId, sessionId, session_id: otherSession } = context;
  const keep = (name: string, value: unknown, isRead: boolean) => {
    if (hasValue(value) && !isRead) setAndKeep(properties, `context_${name}`, value);
  };
  keep('traits', traits, asFields(traits) !== undefined);
  keep('groupId', groupId, readText(groupId) !== undefined && readLongGroupKey(groupId, ids) === undefined);
  keep('sessionId', sessionId, readText(sessionId) !== undefined);
  const isSame = !hasValue(sessionId) || isDeepStrictEqual(sessionId, otherSession);
  keep('session_id', otherSession, isSame && readText(otherSession) !== undefined);
}
