import { stringifyMap } from '../../../lib/json/stringify-json.ts';
import { writtenLength } from '../../http/json.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';
import type { ChangedValues } from './person-changes.ts';

/** Properties of a person, by origin: what is not taken over is the person's own. */
export interface Profile {
  readonly properties: ReadonlyMap<string, unknown>;
  /** Names of those of merged persons. */
  readonly takenOver: ReadonlySet<string>;
}

export interface FittedProfile {
  readonly properties: ReadonlyMap<string, unknown>;
  /** `properties` as JSON text. */
  readonly propertiesText: string;
  /** How many properties of merged persons found no room. */
  readonly takenOverLeftOut: number;
}

/** How much longer a person's own properties become by changes, in characters; negative where they shrink. */
export function countGrowth(profile: Profile, changes: ChangedValues): number {
  let growth = 0;
  for (const [key, value] of changes) {
    if (isOwn(profile, key)) growth -= measureMember(key, profile.properties.get(key));
    if (value !== undefined) growth += measureMember(key, value);
  }
  return growth;
}

/** No less than `countGrowth`, at a fraction of its cost: few values are written as JSON text. */
export function countGrowthAtMost(changes: ChangedValues): number {
  let growth = 0;
  for (const [key, value] of changes) {
    if (value === undefined) continue;
    const length = measureScalarAtMost(value);
    if (length === undefined) growth += measureMember(key, value);
    else growth += ESCAPE_LENGTH * key.length + '"":,'.length + length;
  }
  return growth;
}

/** Characters as JSON text, at most; undefined of lists, objects and other numbers, which must be written to know. */
function measureScalarAtMost(value: unknown): number | undefined {
  if (typeof value === 'string') return ESCAPE_LENGTH * value.length + '""'.length;
  if (typeof value === 'boolean' || value === null) return 'false'.length;
  return Number.isSafeInteger(value) ? LONGEST_INTEGER : undefined;
}

/** Characters of one UTF-16 unit in JSON text, at most: `\u001f`. */
const ESCAPE_LENGTH = 6;
const LONGEST_INTEGER = String(Number.MIN_SAFE_INTEGER).length;

/** Length of a person's own properties as JSON text. Of merged persons no value is read. */
export function measureOwn(profile: Profile): number {
  let length = '{'.length;
  for (const [key, value] of profile.properties) if (isOwn(profile, key)) length += measureMember(key, value);
  return length;
}

const isOwn = ({ properties, takenOver }: Profile, key: string): boolean =>
  properties.has(key) && !takenOver.has(key);

/** With the comma or brace behind it. Most values are texts, of which only the length is wanted. */
function measureMember(key: string, value: unknown): number {
  if (typeof value === 'string')
    return JSON.stringify(key).length + JSON.stringify(value).length + ':,'.length;
  return measure(new Map([[key, value]])) - '{'.length;
}

/**
 * The part of a profile that is stored. If all of it exceeds the limit, the person's own properties take
 * precedence over those of merged persons: of these, as many are taken over as fit, the smallest first,
 * because a merge cannot be undone, and the most useful ones (an e-mail address, a name) are small.
 */
export function fitProfile(profile: Profile): FittedProfile {
  const { properties } = profile;
  const propertiesText = stringifyMap(properties);
  if (writtenLength(propertiesText) <= MAX_PROFILE_CHARACTERS)
    return { properties, propertiesText, takenOverLeftOut: 0 };
  const fitted = new Map<string, unknown>();
  const takenOver: [string, unknown][] = [];
  for (const [key, value] of properties) {
    if (isOwn(profile, key)) fitted.set(key, value);
    else takenOver.push([key, value]);
  }
  const takenOverLeftOut = takenOver.length - addWithin(fitted, takenOver);
  return { properties: fitted, propertiesText: stringifyMap(fitted), takenOverLeftOut };
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
