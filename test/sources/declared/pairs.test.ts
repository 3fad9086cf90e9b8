import { describe, expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

/** A pair says that an anonymous id is a known person: a wrong one merges two persons for good. */
const mapPairs = (record: object, mapping: object = {}) => {
  const map = createMapper('jsonl', {
    mapping: {
      event: { constant: 'Opened' },
      distinctId: { column: ['user', 'email', 'device'] },
      anonymousId: { column: 'device' },
      timestamp: { column: 'at' },
      ...mapping,
    },
  });
  const outcome = map({ at: '2023-03-14T09:26:53Z', ...record });
  if (outcome.kind !== 'mapped') throw new Error(JSON.stringify(outcome));
  const pairs = outcome.facts.flatMap((fact) => (fact.kind === 'pair' ? [[fact.anonId, fact.userId]] : []));
  return { distinctId: outcome.events[0]?.properties.distinct_id, pairs };
};

/** Pairs that merge nothing, and keep devices apart. */
const hearPairs = (record: object, mapping: object = {}, more: object = {}) => {
  const all = { event: { constant: 'Opened' }, timestamp: { column: 'at' } };
  const map = createMapper('jsonl', { mapping: { ...all, ...mapping }, ...more });
  return map({ at: '2023-03-14T09:26:53Z', ...record }).heard?.facts.map((fact) =>
    fact.kind === 'pair' ? [fact.anonId, fact.userId] : [],
  );
};

describe('where no person is known, the id of a later column', () => {
  const ids = { distinctId: { column: ['user', 'email', 'device'] }, anonymousId: { column: 'device' } };
  it.each([
    [{ email: 'a@b.c', device: 'd-1' }, [['d-1', 'a@b.c']]],
    [{ user: 'null', email: 'a@b.c', device: 'd-1' }, [['d-1', 'a@b.c']]],
    [{ user: 'u-1', email: 'a@b.c', device: 'd-1' }, undefined],
    [{ device: 'd-1' }, undefined],
    [{ email: 'a@b.c' }, undefined],
    [{ email: 'd-1', device: 'd-1' }, undefined],
  ])('is a person who used the device: %j', (record, heard) => {
    expect(hearPairs(record, ids)).toEqual(heard);
    expect(hearPairs(record, ids, { dropEvents: ['Opened'] })).toEqual(heard);
    expect(hearPairs({ ...record, at: 'soon' }, { ...ids })).toEqual(
      'user' in record && record.user === 'u-1' ? [['d-1', 'u-1']] : heard,
    );
  });

  it('is one whatever column is before it', () => {
    const last = { ...ids, distinctId: { column: ['user', 'device', 'email'] } };
    expect(hearPairs({ email: 'a@b.c', device: 'd-1' }, last)).toEqual([['d-1', 'a@b.c']]);
  });

  it('is an anonymous id where its column is one of these', () => {
    const cookies = {
      distinctId: { column: ['user', 'cookie'] },
      anonymousId: { column: ['device', 'cookie'] },
    };
    expect(hearPairs({ cookie: 'c-1', device: 'd-1' }, cookies)).toBeUndefined();
  });
});

describe('of three columns for an id', () => {
  it('the first names a known person, who is paired', () => {
    expect(mapPairs({ user: 'u-1', email: 'a@b.c', device: 'd-1' })).toEqual({
      distinctId: 'u-1',
      pairs: [['d-1', 'u-1']],
    });
  });

  it.each([undefined, null, '', ' ', 'null', true, '00000000-0000-0000-0000-000000000000'])(
    'the second is an id of its own and is not paired, where the first holds %j',
    (user) => {
      expect(mapPairs({ user, email: 'a@b.c', device: 'd-1' })).toEqual({ distinctId: 'a@b.c', pairs: [] });
    },
  );

  it('the third is the anonymous id itself, and no pair', () => {
    expect(mapPairs({ device: 'd-1' })).toEqual({ distinctId: 'd-1', pairs: [] });
  });

  it('none is paired with itself, blanks around it or not', () => {
    expect(mapPairs({ user: 'd-1', device: ' d-1 ' })).toEqual({ distinctId: 'd-1', pairs: [] });
  });

  it('each is trimmed, and the anonymous id too', () => {
    expect(mapPairs({ user: ' u-1', device: 'd-1\t' })).toEqual({
      distinctId: 'u-1',
      pairs: [['d-1', 'u-1']],
    });
  });

  it('a known person without an anonymous id is not paired', () => {
    for (const device of [undefined, '', 'null', false, 'd'.repeat(201)])
      expect(mapPairs({ user: 'u-1', email: 'a@b.c', device }).pairs).toEqual([]);
  });
});

it('a blank type of groups is none', () => {
  const map = createMapper('amplitude');
  const record = {
    event_type: 'Opened',
    event_time: '2023-03-14 09:26:53',
    user_id: 'u-1',
    groups: { ' ': ['x'], company: [' acme '] },
    group_properties: { '': { x: { a: 1 } }, company: { ' acme ': { b: 2 } } },
  };
  expect(map(record)).toMatchObject({
    events: [{ properties: { $groups: { company: 'acme' }, amplitude_other_groups: { ' ': ['x'] } } }],
    facts: [{ kind: 'group', groupType: 'company', groupKey: 'acme', set: { b: 2 } }],
  });
});

it('a call whose trait names a blank type of groups is of the default type', () => {
  const call = {
    type: 'group',
    userId: 'u-1',
    groupId: 'g-1',
    timestamp: '2023-03-14T09:26:53Z',
    traits: { groupType: ' ' },
  };
  expect(createMapper('segment')(call)).toMatchObject({ facts: [{ kind: 'group', groupType: 'company' }] });
});
