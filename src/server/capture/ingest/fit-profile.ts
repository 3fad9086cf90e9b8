import { stringifyMap } from '../../../lib/json/stringify-json.ts';
import { writtenLength } from '../../http/json.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';

/** Properties of a person, by origin. */
export interface Profile {
  /** As the batch would leave them. */
  readonly properties: ReadonlyMap<string, unknown>;
  /** As they were before it. */
  readonly oldProperties: ReadonlyMap<string, unknown>;
  /** Properties of merged persons that `oldProperties` do not have. */
  readonly takenOver: ReadonlyMap<string, unknown>;
}

/** A profile whose own part is within the limit. */
export interface OwnAndTaken {
  readonly own: ReadonlyMap<string, unknown>;
  readonly takenOver: ReadonlyMap<string, unknown>;
  /** The batch's changes would exceed the limit, and are dropped. */
  readonly isChangeLeftOut: boolean;
}

export interface FittedProfile {
  readonly properties: ReadonlyMap<string, unknown>;
  /** `properties` as JSON text. */
  readonly propertiesText: string;
  readonly isChangeLeftOut: boolean;
  /** How many properties of merged persons found no room. */
  readonly takenOverLeftOut: number;
}

/** Reads no value of a merged person, so that a long chain of merges costs no more than its persons. */
export function ownWithin({ properties, oldProperties, takenOver }: Profile): OwnAndTaken {
  const own = new Map<string, unknown>();
  const stillTaken = new Map<string, unknown>();
  for (const [key, value] of properties) {
    const isTaken = takenOver.has(key) && takenOver.get(key) === value;
    (isTaken ? stillTaken : own).set(key, value);
  }
  return measure(own) <= MAX_PROFILE_CHARACTERS
    ? { own, takenOver: stillTaken, isChangeLeftOut: false }
    : { own: oldProperties, takenOver, isChangeLeftOut: true };
}

/**
 * The part of a profile that is stored. If all of it exceeds the limit, the person's own properties take
 * precedence over those of merged persons: of these, as many are taken over as fit, the smallest first,
 * because a merge cannot be undone, and the most useful ones (an e-mail address, a name) are small.
 */
export function fitProfile(profile: Profile): FittedProfile {
  const { properties } = profile;
  const propertiesText = stringifyMap(properties);
  if (writtenLength(propertiesText) <= MAX_PROFILE_CHARACTERS) {
    return { properties, propertiesText, isChangeLeftOut: false, takenOverLeftOut: 0 };
  }
  const { own, takenOver, isChangeLeftOut } = ownWithin(profile);
  const fitted = new Map(own);
  const takenOverLeftOut = takenOver.size - addWithin(fitted, [...takenOver]);
  return { properties: fitted, propertiesText: stringifyMap(fitted), isChangeLeftOut, takenOverLeftOut };
}

/** Adds as many members as fit and returns how many; of equal sizes the key that sorts first. */
function addWithin(target: Map<string, unknown>, members: readonly [string, unknown][]): number {
  const bySize = members
    .map(([key, value]) => ({ key, value, length: measure(new Map([[key, value]])) - '{}'.length }))
    .sort((a, b) => a.length - b.length || (a.key < b.key ? -1 : 1));
  let length = measure(target);
  let added = 0;
  for (const member of bySize) {
    length += member.length + (target.size > 0 ? ','.length : 0);
    if (length > MAX_PROFILE_CHARACTERS) break; // those that follow are no smaller
    target.set(member.key, member.value);
    added += 1;
  }
  return added;
}

const measure = (properties: ReadonlyMap<string, unknown>) => writtenLength(stringifyMap(properties));
