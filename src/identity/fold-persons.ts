import type { TargetEvent } from '../contract/event.ts';
import type { BatchLimits } from '../deliver/batch-builder.ts';
import { ENVELOPE_BYTES } from '../deliver/envelope.ts';
import type { StoredProperty } from '../state/facts.ts';
import type { FactFold } from './fact-fold.ts';
import { type FieldProperty, fieldProperties, packProperties } from './pack-properties.ts';
import type { Unmerged } from './persons-tally.ts';
import { groupEvent, mergeEvent, personEvent } from './synthetic-events.ts';

export interface FoldPersonsOptions {
  /** Send latest values as `$set`, over what is live at the destination. False: all as `$set_once`. */
  readonly overwrite: boolean;
  /** Name of the event that carries group properties. */
  readonly groupIdentifyEvent: string;
  /** Properties of one event, in bytes of JSON: see propertiesMaxBytes. */
  readonly maxBytes: number;
}

/** Ids, names and braces of an event. */
const FRAME_BYTES = 4 * 1024;

/** What an event that fits into a batch leaves for its properties. */
export const propertiesMaxBytes = ({ bytes, eventBytes }: BatchLimits): number =>
  Math.min(eventBytes, bytes - ENVELOPE_BYTES) - FRAME_BYTES;

/** What one person or group comes to. */
export interface FoldedOne {
  readonly kind: 'person' | 'group';
  /** Merges first, so that the destination never makes two people of one. */
  readonly events: readonly TargetEvent[];
  readonly pairs: number;
  /** About what the values take as JSON. */
  readonly bytes: number;
  readonly setAside: readonly Unmerged[];
}

/** Findings under their final ids become events, in the order of ids. */
export function* foldPersons(resolved: FactFold, options: FoldPersonsOptions): Generator<FoldedOne> {
  const ids = new Set([...resolved.merges.keys(), ...resolved.persons.keys()]);
  for (const id of [...ids].sort()) yield foldPerson(resolved, id, options);
  for (const [, group] of [...resolved.groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { groupType, groupKey, time } = group;
    const set = group.set.stored();
    const { packs, tooLarge } = packProperties(fieldProperties('$group_set', set), options.maxBytes);
    // A group without properties still comes into being at the destination.
    const sent = set.length > 0 ? packs : [[]];
    yield {
      kind: 'group',
      events: sent.map((pack) => groupEvent(options.groupIdentifyEvent, groupType, groupKey, time, pack)),
      pairs: 0,
      bytes: bytesOf(packs),
      setAside: asides(groupKey, tooLarge),
    };
  }
}

function foldPerson(resolved: FactFold, id: string, options: FoldPersonsOptions): FoldedOne {
  const merges = [...(resolved.merges.get(id) ?? [])]
    .map(([anonId, time]) => ({ anonId, time }))
    .sort((a, b) => (a.time + a.anonId < b.time + b.anonId ? -1 : 1));
  const person = resolved.persons.get(id);
  const set = person?.set.stored() ?? [];
  const setOnce = person?.setOnce.stored() ?? [];
  const { packs, tooLarge } = packProperties(
    options.overwrite
      ? [...fieldProperties('$set_once', setOnce), ...fieldProperties('$set', set)]
      : onceOnly(set, setOnce),
    options.maxBytes,
  );
  const time = latestOf([...set, ...setOnce]);
  return {
    kind: 'person',
    events: [
      ...merges.map((merge) => mergeEvent(id, merge.anonId, merge.time)),
      ...packs.map((pack) => personEvent(id, time, pack)),
    ],
    pairs: merges.length,
    bytes: bytesOf(packs),
    setAside: asides(id, tooLarge),
  };
}

/** Where a property was both set and set once, setting won at the source too. */
function onceOnly(set: readonly StoredProperty[], setOnce: readonly StoredProperty[]): FieldProperty[] {
  const wasSet = new Set(set.map(([key]) => key));
  const all = [...set, ...setOnce.filter(([key]) => !wasSet.has(key))];
  return fieldProperties(
    '$set_once',
    all.sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const latestOf = (properties: readonly StoredProperty[]) =>
  properties
    .map(([, time]) => time)
    .sort()
    .at(-1) ?? '';

const bytesOf = (packs: readonly (readonly FieldProperty[])[]) =>
  packs.flat().reduce((bytes, { text }) => bytes + text.length, 0);

const asides = (id: string, tooLarge: readonly FieldProperty[]): Unmerged[] =>
  tooLarge.map(({ key }) => ({ reason: 'property_too_large', id, property: key }));
