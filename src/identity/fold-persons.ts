import type { TargetEvent } from '../contract/event.ts';
import type { BatchLimits } from '../deliver/batch-builder.ts';
import { ENVELOPE_BYTES } from '../deliver/envelope.ts';
import type { StoredProperty } from '../state/facts.ts';
import type { FactFold } from './fact-fold.ts';
import { type FieldProperty, packProperties, toFieldProperties } from './pack-properties.ts';
import type { Unmerged } from './persons-tally.ts';
import { createGroupEvent, createMergeEvent, createPersonEvent } from './synthetic-events.ts';

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

/** One person or group as events. */
export interface FoldedSubject {
  readonly kind: 'person' | 'group';
  /** Merges first, so that the destination never creates two persons for one. */
  readonly events: readonly TargetEvent[];
  readonly pairs: number;
  /** Estimated size of the values as JSON. */
  readonly bytes: number;
  readonly unmerged: readonly Unmerged[];
}

/** Turns facts under their final ids into events, in the order of ids. */
export function* foldPersons(resolved: FactFold, options: FoldPersonsOptions): Generator<FoldedSubject> {
  const ids = new Set([...resolved.merges.keys(), ...resolved.persons.keys()]);
  for (const id of [...ids].sort()) yield foldPerson(resolved, id, options);
  for (const [, group] of [...resolved.groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { groupType, groupKey, time } = group;
    const set = group.set.stored();
    const { packs, tooLarge } = packProperties(toFieldProperties('$group_set', set), options.maxBytes);
    // A group without properties is created at the destination, too.
    const sent = set.length > 0 ? packs : [[]];
    yield {
      kind: 'group',
      events: sent.map((pack) =>
        createGroupEvent(options.groupIdentifyEvent, groupType, groupKey, time, pack),
      ),
      pairs: 0,
      bytes: countBytes(packs),
      unmerged: toUnmerged(groupKey, tooLarge),
    };
  }
}

function foldPerson(resolved: FactFold, id: string, options: FoldPersonsOptions): FoldedSubject {
  const merges = [...(resolved.merges.get(id) ?? [])]
    .map(([anonId, time]) => ({ anonId, time }))
    .sort((a, b) => (a.time + a.anonId < b.time + b.anonId ? -1 : 1));
  const person = resolved.persons.get(id);
  const set = person?.set.stored() ?? [];
  const setOnce = person?.setOnce.stored() ?? [];
  const { packs, tooLarge } = packProperties(
    options.overwrite
      ? [...toFieldProperties('$set_once', setOnce), ...toFieldProperties('$set', set)]
      : mergeAsSetOnce(set, setOnce),
    options.maxBytes,
  );
  const time = findLatest([...set, ...setOnce]);
  return {
    kind: 'person',
    events: [
      ...merges.map((merge) => createMergeEvent(id, merge.anonId, merge.time)),
      ...packs.map((pack) => createPersonEvent(id, time, pack)),
    ],
    pairs: merges.length,
    bytes: countBytes(packs),
    unmerged: toUnmerged(id, tooLarge),
  };
}

/** Where a property was both set and set once, `set` won at the source, too. */
function mergeAsSetOnce(set: readonly StoredProperty[], setOnce: readonly StoredProperty[]): FieldProperty[] {
  const wasSet = new Set(set.map(([key]) => key));
  const all = [...set, ...setOnce.filter(([key]) => !wasSet.has(key))];
  return toFieldProperties(
    '$set_once',
    all.sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const findLatest = (properties: readonly StoredProperty[]) =>
  properties
    .map(([, time]) => time)
    .sort()
    .at(-1) ?? '';

const countBytes = (packs: readonly (readonly FieldProperty[])[]) =>
  packs.flat().reduce((bytes, { text }) => bytes + text.length, 0);

const toUnmerged = (id: string, tooLarge: readonly FieldProperty[]): Unmerged[] =>
  tooLarge.map(({ key }) => ({ reason: 'property_too_large', id, property: key }));
