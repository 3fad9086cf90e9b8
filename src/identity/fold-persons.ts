import { haveOneScope, toMoment, WHOLE_MARK } from '../contract/identity-fact.ts';
import type { BatchLimits } from '../deliver/batch-builder.ts';
import { ENVELOPE_BYTES } from '../deliver/envelope.ts';
import { copyShort } from '../lib/json/flatten.ts';
import type { StoredProperty } from '../state/facts/snapshots.ts';
import { type FieldProperty, packProperties, toFieldProperties } from './pack-properties.ts';
import type { Unmerged } from './persons-tally.ts';
import type { PropertyField, PropertyFilter } from './property-filter.ts';
import type { ResolvedFold, ResolvedGroup, ResolvedPerson } from './resolved-fold.ts';
import { createGroupEvent, createPersonEvent, type SyntheticEvent } from './synthetic-events.ts';

export interface FoldPersonsOptions {
  /** True: the latest values are sent as `$set` and overwrite live ones. False: everything as `$set_once`. */
  readonly overwrite: boolean;
  /** Name of the event that carries group properties. */
  readonly groupIdentifyEvent: string;
  /** Properties of one event, in bytes of JSON: see getPropertiesMaxBytes. */
  readonly maxBytes: number;
}

/** Ids, names and braces of an event. */
const FRAME_BYTES = 4 * 1024;

/** Bytes that an event which fits into a batch has for its properties. */
export const getPropertiesMaxBytes = ({ bytes, eventBytes }: BatchLimits): number =>
  Math.min(eventBytes, bytes - ENVELOPE_BYTES) - FRAME_BYTES;

/** Under what the ledger has a property of a subject. */
export type PropertyRecord = Pick<FieldProperty, 'entry' | 'key'>;

/** One person or group as events. */
export interface FoldedSubject {
  readonly kind: 'person' | 'group';
  /** Keyed hash, in hexadecimal. */
  readonly of: string;
  readonly events: readonly SyntheticEvent[];
  /** Of a group: the field under which the ledger has that it was sent. */
  readonly mark?: string;
  /** The properties of each event, as the ledger has them. */
  readonly names: readonly (readonly PropertyRecord[])[];
  /** Estimated size of the values as JSON. */
  readonly bytes: number;
  readonly unmerged: readonly Unmerged[];
  /** With events of the person. */
  readonly months?: Iterable<number> | undefined;
}

/**
 * Turns facts under their final ids into events, in the order of their hashes. Only what `filter` finds to be
 * better than what was sent before becomes part of an event. Those up to the hash `after` are left out.
 */
export function* foldPersons(
  resolved: ResolvedFold,
  filter: PropertyFilter,
  options: FoldPersonsOptions,
  after = '',
): Generator<FoldedSubject> {
  const subjects = new Set(resolved.persons.keys());
  for (const others of [resolved.groups, resolved.floors, resolved.active])
    for (const of of others.keys()) subjects.add(of);
  for (const one of [...subjects].sort()) {
    if (one <= after) continue;
    const of = copyShort(one);
    const floors = resolved.floors.get(of);
    if (floors) for (const [key, timeMs] of floors) filter.raiseFloor(of, key, timeMs);
    const person = resolved.persons.get(of);
    const months = resolved.active.get(of);
    if (person) yield foldPerson(of, person, months, filter, options);
    else if (months) yield { kind: 'person', of, events: [], names: [], bytes: 0, unmerged: [], months };
    const group = resolved.groups.get(of);
    if (group) yield foldGroup(of, group, filter, options);
  }
}

function foldPerson(
  of: string,
  person: ResolvedPerson,
  months: Iterable<number> | undefined,
  filter: PropertyFilter,
  { overwrite, maxBytes }: FoldPersonsOptions,
): FoldedSubject {
  const { id, properties } = person;
  const known = [dropGone(properties.set.properties()), properties.setOnce.properties()] as const;
  const { set, later, fill, setOnce } = filter.selectPerson(of, ...known);
  const { packs, tooLarge } = packProperties(
    overwrite
      ? [...toOnce([fill, 'set'], [setOnce, 'set_once']), ...toFieldProperties('$set', 'set', set, later)]
      : toOnce([set, 'set'], [fill, 'set'], [setOnce, 'set_once']),
    maxBytes,
  );
  // It may fit where an event may be larger.
  for (const { entry, key } of tooLarge) filter.withdraw(of, entry, key);
  const time = toMoment(findLatest(set, fill, setOnce));
  return {
    kind: 'person',
    of,
    events: packs.map((pack) => createPersonEvent(id, time, pack)),
    names: packs.map(toRecords),
    bytes: countBytes(packs),
    unmerged: toUnmerged(id, tooLarge),
    months,
  };
}

function foldGroup(
  of: string,
  { groupType, groupKey, time, properties }: ResolvedGroup,
  filter: PropertyFilter,
  { groupIdentifyEvent, maxBytes }: FoldPersonsOptions,
): FoldedSubject {
  const all = properties.set.properties();
  const { set, later, isNew, unsure } = filter.selectGroup(of, all);
  const { groupFields } = filter;
  const sendable = toFieldProperties('$group_set', groupFields.set, set, later);
  const { packs, tooLarge } = packProperties(sendable, maxBytes);
  for (const { entry, key } of tooLarge) filter.withdraw(of, entry, key);
  // A group without properties is created at the destination, too.
  const sent = all.length === 0 && isNew ? [[]] : packs;
  return {
    kind: 'group',
    of,
    mark: groupFields.mark,
    names: sent.map(toRecords),
    events: sent.map((pack) => createGroupEvent(groupIdentifyEvent, groupType, groupKey, time, pack)),
    bytes: countBytes(packs),
    unmerged: [
      ...toUnmerged(groupKey, tooLarge),
      ...unsure.map(({ key }): Unmerged => ({ reason: 'group_may_be_newer', id: groupKey, property: key })),
    ],
  };
}

/**
 * What is set of a person, each key once: without what is gone by the newest fact of its scope that says all there is at
 * its time, and of what is left the latest. In and out sorted by key.
 */
function dropGone(properties: readonly StoredProperty[]): readonly StoredProperty[] {
  let wholes: string[] | undefined;
  for (const { key, time } of properties) {
    if (key !== WHOLE_MARK) continue;
    wholes ??= [];
    wholes.push(time);
  }
  const kept: StoredProperty[] = [];
  let last: StoredProperty | undefined;
  for (const property of properties) {
    const { key, time } = property;
    if (key === WHOLE_MARK || (wholes && isGone(time, wholes))) continue;
    if (last?.key !== key) kept.push(property);
    else if (time > last.time) kept[kept.length - 1] = property;
    last = kept[kept.length - 1];
  }
  return kept;
}

function isGone(time: string, wholes: readonly string[]): boolean {
  for (const whole of wholes) if (time < whole && haveOneScope(time, whole)) return true;
  return false;
}

/** Properties of several lists in the order of their keys. Each list has that order, and no key is in two. */
function toOnce(...lists: readonly (readonly [readonly StoredProperty[], PropertyField])[]): FieldProperty[] {
  let all: FieldProperty[] = [];
  for (const [properties, entry] of lists) {
    if (properties.length > 0) all = mergeByKey(all, toFieldProperties('$set_once', entry, properties));
  }
  return all;
}

function mergeByKey(a: FieldProperty[], b: FieldProperty[]): FieldProperty[] {
  if (a.length === 0) return b;
  const merged: FieldProperty[] = [];
  let atB = 0;
  for (const one of a) {
    for (let other = b[atB]; other && other.key < one.key; other = b[atB]) {
      merged.push(other);
      atB += 1;
    }
    merged.push(one);
  }
  while (atB < b.length) merged.push(b[atB++] as FieldProperty);
  return merged;
}

const NONE: readonly Unmerged[] = [];

/** Most subjects have the same names as the one before: one list serves all of them. */
let lastRecords: readonly PropertyRecord[] = [];

function toRecords(pack: readonly FieldProperty[]): readonly PropertyRecord[] {
  const isSame = (one: FieldProperty, at: number) =>
    lastRecords[at]?.key === one.key && lastRecords[at]?.entry === one.entry;
  if (pack.length !== lastRecords.length || !pack.every(isSame))
    lastRecords = pack.map(({ entry, key }) => ({ entry, key }));
  return lastRecords;
}

function findLatest(...lists: readonly (readonly StoredProperty[])[]): string {
  let latest = '';
  for (const properties of lists) for (const { time } of properties) if (time > latest) latest = time;
  return latest;
}

function countBytes(packs: readonly (readonly FieldProperty[])[]): number {
  let bytes = 0;
  for (const pack of packs) for (const { text } of pack) bytes += text.length;
  return bytes;
}

const toUnmerged = (id: string, tooLarge: readonly FieldProperty[]): readonly Unmerged[] =>
  tooLarge.length === 0
    ? NONE
    : tooLarge.map(({ key }) => ({ reason: 'property_too_large', id, property: key }));
