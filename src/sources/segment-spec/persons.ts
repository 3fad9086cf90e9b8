import type { IdentityFact } from '../../contract/identity-fact.ts';
import { type MapOutcome, rejected, skipped } from '../../contract/outcome.ts';
import { shown } from '../../lib/preview.ts';
import { type IdRules, toDistinctId } from '../mapping/distinct-id.ts';
import { readText } from '../mapping/identity.ts';
import { toOwnNames } from '../mapping/properties.ts';
import { isRejected } from '../mapping/record-time.ts';
import { asFields, type Fields, hasValue } from '../mapping/table.ts';

export const DEFAULT_GROUP_TYPE = 'company';

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

export function mapAlias(record: Fields, time: string, ids: IdRules): MapOutcome {
  const userId = ids.readSendable(record['userId']);
  const previousId = ids.readSendable(record['previousId']);
  if (userId === undefined || previousId === undefined) {
    return rejected(
      'no_identity',
      `an alias call needs both ids; userId is ${shown(record['userId'])}, previousId ${shown(record['previousId'])}`,
    );
  }
  const facts = readPair(record, time, ids);
  if (previousId !== userId) facts.push({ kind: 'pair', anonId: previousId, userId, time });
  return skipped('feeds_people', facts, readUser(record, ids));
}

export function mapGroup(
  record: Fields,
  time: string,
  ids: IdRules,
  declaredType: string | undefined,
): MapOutcome {
  const groupKey = ids.readSendable(record['groupId']);
  if (groupKey === undefined) {
    return rejected(
      'bad_field',
      `groupId is ${shown(record['groupId'])}; a group call needs the key of its group`,
    );
  }
  const traits = asFields(record['traits']) ?? {};
  const ownType = readText(traits['groupType']);
  const groupType =
    declaredType ?? (ownType && ids.isGroupType(ownType) ? ownType : undefined) ?? DEFAULT_GROUP_TYPE;
  const { groupType: _type, ...set } = traits;
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
