import type { IdentityFact, Seen } from '../../contract/identity-fact.ts';
import { type MapOutcome, rejected, skipped } from '../../contract/outcome.ts';
import { shown } from '../../lib/preview.ts';
import { type IdRules, readLongGroupKey, rejectLongGroupKey, toDistinctId } from '../mapping/distinct-id.ts';
import { readText } from '../mapping/identity.ts';
import { toOwnNames } from '../mapping/properties.ts';
import { isRejected } from '../mapping/record-time.ts';
import { asFields, type Fields, hasValue } from '../mapping/table.ts';
import { hasMeaning } from '../mapping/web/meaning.ts';
import { readReferringDomain } from '../mapping/web/rules.ts';
import type { OnNote } from '../source.ts';

const DEFAULT_GROUP_TYPE = 'company';

/** What the groups of an archive are called: by its group calls and by the context of other calls alike. */
export const readGroupType = (declared: string | undefined): string => declared ?? DEFAULT_GROUP_TYPE;

export function mapIdentify(record: Fields, time: string, ids: IdRules): MapOutcome {
  const distinctId = readDistinctId(record, ids);
  if (isRejected(distinctId)) return distinctId;
  // RudderStack's clients put the traits of an identify call in its context.
  const cached = asFields(asFields(record['context'])?.['traits']);
  const given = asFields(record['traits']);
  if (hasValue(record['traits']) && !given) {
    return rejected('bad_field', `traits is ${shown(record['traits'])}; an object was expected`);
  }
  const set = cached && given ? { ...cached, ...given } : (given ?? cached);
  const facts = readPair(record, time, ids);
  if (set && Object.keys(set).length > 0)
    facts.push({ kind: 'person', distinctId, time, set: toOwnNames(set) });
  return skipped('feeds_people', facts, readUser(record, ids));
}

/**
 * `saysNames`: from version 3, that a known user has another id by now merges the two, as the call is made for.
 * https://segment.com/docs/connections/spec/alias/
 */
export function mapAlias(record: Fields, time: string, ids: IdRules, saysNames: boolean): MapOutcome {
  const userId = ids.readSendable(record['userId']);
  const previousId = ids.readSendable(record['previousId']);
  if (userId === undefined || previousId === undefined) {
    return rejected(
      'no_identity',
      `an alias call needs both ids; userId is ${shown(record['userId'])}, previousId ${shown(record['previousId'])}`,
    );
  }
  const facts = readPair(record, time, ids);
  if (previousId !== userId) {
    facts.push({ kind: 'pair', anonId: previousId, userId, time });
    if (saysNames) facts.push({ kind: 'rename', from: previousId, to: userId, time });
  }
  return skipped('feeds_people', facts, readUser(record, ids));
}

/** What a call is made for cannot be read where it is in something that is no object. */
export function rejectBadTraits(
  record: Fields,
  places: readonly ('traits' | 'context' | 'context.traits')[],
) {
  for (const place of places) {
    const value = place === 'context.traits' ? asFields(record['context'])?.['traits'] : record[place];
    if (hasValue(value) && !asFields(value))
      return rejected('bad_field', `${place} is ${shown(value)}; an object was expected`);
  }
  return undefined;
}

const ANONYMOUS_ID = /^anonymous_?id$/i;

/**
 * RudderStack's `merge` lists further identifiers of a person. Most are no distinct ids, such as an address; an
 * anonymous id is. https://www.rudderstack.com/docs/event-spec/standard-events/merge/
 */
export function mapMerge(record: Fields, time: string, ids: IdRules): MapOutcome {
  const facts = readPair(record, time, ids);
  const userId = ids.readSendable(record['userId']);
  const list: readonly unknown[] = Array.isArray(record['mergeProperties']) ? record['mergeProperties'] : [];
  for (const one of list) {
    const fields = asFields(one);
    const anonId = ANONYMOUS_ID.test(readText(fields?.['type']) ?? '')
      ? ids.readSendable(fields?.['value'])
      : undefined;
    if (userId !== undefined && anonId !== undefined && anonId !== userId)
      facts.push({ kind: 'pair', anonId, userId, time });
  }
  return skipped('feeds_people', facts, readUser(record, ids));
}

/**
 * The type of a group call, and the traits that are properties of its group. Versions 1 and 2 believed the trait
 * `groupType`, which the other calls of a group know nothing of.
 */
export type ReadGroupOf = (traits: Fields) => { readonly groupType: string; readonly set: Fields };

export const createReadOwnGroup =
  (declared: string | undefined, ids: IdRules): ReadGroupOf =>
  (traits) => {
    const own = readText(traits['groupType']);
    const { groupType: _type, ...set } = traits;
    return {
      groupType: declared ?? (own && ids.isGroupType(own) ? own : undefined) ?? DEFAULT_GROUP_TYPE,
      set,
    };
  };

export const createReadSameGroup =
  (declared: string | undefined, onNote: OnNote): ReadGroupOf =>
  (set) => {
    const groupType = readGroupType(declared);
    const own = readText(set['groupType']) ?? groupType;
    if (own !== groupType) onNote('own_group_type');
    return { groupType, set };
  };

export function mapGroup(record: Fields, time: string, ids: IdRules, readGroupOf: ReadGroupOf): MapOutcome {
  const longKey = readLongGroupKey(record['groupId'], ids);
  if (longKey !== undefined) return rejectLongGroupKey(longKey, 'groupId');
  const groupKey = ids.readSendable(record['groupId']);
  if (groupKey === undefined) {
    return rejected(
      'bad_field',
      `groupId is ${shown(record['groupId'])}; a group call needs the key of its group`,
    );
  }
  const { groupType, set } = readGroupOf(asFields(record['traits']) ?? {});
  const facts = readPair(record, time, ids);
  facts.push({ kind: 'group', groupType, groupKey, time, set: toOwnNames(set) });
  return skipped('feeds_groups', facts, readUser(record, ids));
}

export const readDistinctId = (record: Fields, ids: IdRules) =>
  toDistinctId(ids.read(record['userId']) ?? ids.read(record['anonymousId']), 'userId and anonymousId');

/** identify is sent at log-in only, so any call that carries both ids shows that they are one person. */
export function readPair(record: Fields, time: string, ids: IdRules): IdentityFact[] {
  const userId = ids.readSendable(record['userId']);
  const anonId = ids.readSendable(record['anonymousId']);
  if (userId === undefined || anonId === undefined || userId === anonId) return [];
  return [{ kind: 'pair', anonId, userId, time }];
}

export const readUser = (record: Fields, ids: IdRules) =>
  ids.marksUsers ? ids.readSendable(record['userId']) : undefined;

/**
 * Segment counts the user ids of a month, and the anonymous ids that no call of it shows with a user.
 * https://segment.com/docs/guides/usage-and-billing/mtus-and-throughput/
 */
export function readSeen(record: Fields, time: string, ids: IdRules): Seen | undefined {
  const userId = ids.readSendable(record['userId']);
  const anonId = ids.readSendable(record['anonymousId']);
  if (userId === undefined)
    return anonId === undefined ? undefined : { person: undefined, id: anonId, isUser: false, time };
  const beside = anonId === userId ? undefined : anonId;
  return { person: undefined, id: userId, isUser: true, beside, time };
}

/** What the context of a track, page or screen call says of its person. */
export type ReadContextFacts = (record: Fields, distinctId: string, time: string) => IdentityFact | undefined;

/** Versions 1 and 2. */
export const readNoContextFacts: ReadContextFacts = () => undefined;

/**
 * Clients repeat in `context.traits` what they know of the person, and in `context.page` where the first visit came
 * from. An identify call of the same moment is what they know it from, so it comes first.
 * https://segment.com/docs/connections/spec/common/#context-fields-automatically-collected
 */
export const readContextFacts: ReadContextFacts = (record, distinctId, time) => {
  const context = asFields(record['context']);
  if (!context) return undefined;
  const traits = asFields(context['traits']);
  const page = asFields(context['page']);
  const set = traits && Object.keys(traits).length > 0 ? toOwnNames(traits) : undefined;
  const setOnce = page && readFirstVisit(page);
  if (!set && !setOnce) return undefined;
  return { kind: 'person', distinctId, time: toJustBefore(time), set, setOnce };
};

/** RudderStack's clients leave the domain of `$direct` empty; what follows from the referrer is the same for both. */
function readFirstVisit(page: Fields): Fields | undefined {
  const referrer = page['initial_referrer'];
  const given = page['initial_referring_domain'];
  const domain = hasMeaning(given) ? given : readReferringDomain(readText(referrer) ?? '');
  const hasReferrer = hasMeaning(referrer);
  if (domain !== undefined) {
    return hasReferrer
      ? { $initial_referrer: referrer, $initial_referring_domain: domain }
      : { $initial_referring_domain: domain };
  }
  return hasReferrer ? { $initial_referrer: referrer } : undefined;
}

/** The millisecond before, so that what was said at the time itself is newer. */
function toJustBefore(time: string): string {
  const last = time.charCodeAt(22);
  if (last > 48) return `${time.slice(0, 22)}${String.fromCharCode(last - 1)}Z`;
  const before = new Date(Date.parse(time) - 1).toISOString();
  return before.startsWith('1969') ? time : before;
}
