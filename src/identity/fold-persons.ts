import { haveOneScope, toMoment, WHOLE_MARK } from '../contract/identity-fact.ts';
import type { BatchLimits } from '../deliver/batch-builder.ts';
import { ENVELOPE_BYTES } from '../deliver/envelope.ts';
import { PropertyRows } from '../state/facts/property-rows.ts';
import { Subject } from '../state/ledger/keyed-hash.ts';
import { type PropertyPack, type PropertyRecords, packProperties, toRecordLists } from './pack-properties.ts';
import type { Unmerged } from './persons-tally.ts';
import { IS_ONCE, KIND } from './property-decision.ts';
import type { PropertyField, PropertyFilter } from './property-filter.ts';
import type { ResolvedFold, ResolvedGroup, ResolvedPerson } from './resolved-fold.ts';
import { createGroupEvent, createPersonEvent, type SyntheticEvent } from './synthetic-events.ts';

export interface FoldPersonsOptions {
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

/** One person or group as events. */
export interface FoldedSubject {
  readonly kind: 'person' | 'group';
  readonly of: Subject;
  readonly events: readonly SyntheticEvent[];
  /** Of a group: the field under which the ledger has that it was sent. */
  readonly mark?: string;
  /** The properties of each event, as the ledger has them. */
  readonly records: readonly PropertyRecords[];
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
  const { persons, groups, floors, active } = resolved;
  const subjects = [...persons.keys()];
  const others = new Set<string>();
  for (const some of [groups, floors, active])
    for (const key of some.keys()) if (!persons.has(key)) others.add(key);
  subjects.push(...others);
  for (const key of subjects.sort()) {
    if (key <= after) continue;
    const of = new Subject(key);
    const floorsOf = floors.get(key);
    if (floorsOf) for (const [name, timeMs] of floorsOf) filter.raiseFloor(of, name, timeMs);
    const person = persons.get(key);
    const months = active.get(key);
    if (person) yield foldPerson(of, person, months, filter, options);
    else if (months) yield { kind: 'person', of, events: [], records: [], bytes: 0, unmerged: [], months };
    const group = groups.get(key);
    if (group) yield foldGroup(of, group, filter, options);
  }
}

function foldPerson(
  of: Subject,
  person: ResolvedPerson,
  months: Iterable<number> | undefined,
  filter: PropertyFilter,
  { maxBytes }: FoldPersonsOptions,
): FoldedSubject {
  const { id, properties } = person;
  const { set, setOnce } = properties;
  rows.begin();
  set.addTo(rows);
  dropGone();
  const setCount = rows.count;
  setOnce.addTo(rows);
  filter.selectPerson(of, rows, setCount);
  const time = toMoment(rows.findLatestMarked());
  const { packs, tooLarge } = packProperties(rows, setCount, maxBytes);
  // It may fit where an event may be larger.
  for (const row of tooLarge) filter.withdraw(of, toEntry(row), rows.getKey(row));
  return {
    kind: 'person',
    of,
    events: packs.map((pack) => createPersonEvent(id, time, pack)),
    records: toRecordLists(packs, toEntry),
    bytes: countUnits(packs),
    unmerged: toUnmerged(id, tooLarge),
    months,
  };
}

function foldGroup(
  of: Subject,
  { groupType, groupKey, time, properties }: ResolvedGroup,
  filter: PropertyFilter,
  { groupIdentifyEvent, maxBytes }: FoldPersonsOptions,
): FoldedSubject {
  const { set } = properties;
  rows.begin();
  set.addTo(rows);
  const { isNew, unsure } = filter.selectGroup(of, rows);
  const { groupFields } = filter;
  const { packs, tooLarge } = packProperties(rows, rows.count, maxBytes);
  for (const row of tooLarge) filter.withdraw(of, groupFields.set, rows.getKey(row));
  // A group without properties is created at the destination, too.
  const sent = rows.count === 0 && isNew ? [{ rows, start: 0, stop: 0, bytes: 0 }] : packs;
  return {
    kind: 'group',
    of,
    mark: groupFields.mark,
    records: toRecordLists(sent, () => groupFields.set),
    events: sent.map((pack) => createGroupEvent(groupIdentifyEvent, groupType, groupKey, time, pack)),
    bytes: countUnits(packs),
    unmerged: [
      ...toUnmerged(groupKey, tooLarge),
      ...unsure.map((key): Unmerged => ({ reason: 'group_may_be_newer', id: groupKey, property: key })),
    ],
  };
}

/** Those of the subject at hand. */
const rows = new PropertyRows();

/**
 * Leaves what is set of a person, each key once: without what is gone by the newest fact of its scope that says all there
 * is at its time, and of what is left the latest. The rows are sorted by key, and stay so.
 */
function dropGone(): void {
  let wholes: string[] | undefined;
  for (let row = 0; row < rows.count; row += 1) {
    if (rows.getKey(row) !== WHOLE_MARK) continue;
    const time = rows.getTime(row);
    if (wholes) wholes.push(time);
    else wholes = [time];
  }
  let kept = 0;
  for (let row = 0; row < rows.count; row += 1) {
    const name = rows.names[row];
    if (wholes && (rows.getKey(row) === WHOLE_MARK || isGone(rows.getTime(row), wholes))) continue;
    const last = kept - 1;
    if (kept === 0 || rows.names[last] !== name) {
      if (row !== kept) rows.move(row, kept);
      kept += 1;
    } else if (rows.getTime(row) > rows.getTime(last)) rows.move(row, last);
  }
  rows.count = kept;
}

function isGone(time: string, wholes: readonly string[]): boolean {
  for (const whole of wholes) if (time < whole && haveOneScope(time, whole)) return true;
  return false;
}

const toEntry = (row: number): PropertyField =>
  ((rows.marks[row] as number) & KIND) === IS_ONCE ? 'set_once' : 'set';

const NONE: readonly Unmerged[] = [];

function countUnits(packs: readonly PropertyPack[]): number {
  let units = 0;
  for (const { start, stop } of packs)
    for (let at = start; at < stop; at += 1) units += rows.countUnits(rows.order[at] as number);
  return units;
}

const toUnmerged = (id: string, tooLarge: readonly number[]): readonly Unmerged[] =>
  tooLarge.length === 0
    ? NONE
    : tooLarge.map((row) => ({ reason: 'property_too_large', id, property: rows.getKey(row) }));
