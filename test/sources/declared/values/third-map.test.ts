import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MapOutcome } from '../../../../src/contract/outcome.ts';
import { createHideHashed } from '../../../../src/sources/declared/values/hide-hashed.ts';
import { bindSource, getSourceType } from '../../../../src/sources/registry.ts';
import { createMapper } from '../../create-mapper.ts';

const KEY = 'a key of at least sixteen characters';
const BASE = { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };
const RECORD = { e: 'Bought', u: 'ann', t: '2023-05-01T12:00:00Z' };

const create = (mapping: object, options: object = {}, type = 'jsonl') =>
  createMapper(type, { mapping: { ...BASE, ...mapping }, ...options }, { hashKey: KEY });
const map = (mapping: object, record: object, options: object = {}): MapOutcome =>
  create(mapping, options)({ ...RECORD, ...record });
function only(outcome: MapOutcome) {
  if (outcome.kind !== 'mapped') throw new Error(JSON.stringify(outcome));
  const [event] = outcome.events;
  if (!event || outcome.events.length !== 1) throw new Error('one event was expected');
  return event;
}
const KEYED = { u: true, d: 'dev', in: { u: false }, spread: { u: { a: 1 } } };
const events = (outcome: MapOutcome) => (outcome.kind === 'mapped' ? outcome.events : []);
const hashed = (text: string) => createHmac('sha256', KEY).update(text).digest('hex');

describe('types', () => {
  test('reach properties, paths, lists, persons and groups', () => {
    const mapping = {
      types: { price: 'number', 'cart.items.qty': 'number', age: 'number', 'meta.vip': 'boolean' },
      person: { set: { columns: ['age'] } },
      jsonColumns: ['meta'],
    };
    const record = {
      price: '9.50',
      cart: { items: [{ qty: '2' }, { qty: '3' }] },
      age: '41',
      meta: '{"vip":"yes"}',
    };
    const outcome = map(mapping, record);
    expect(only(outcome).properties).toMatchObject({
      price: 9.5,
      cart: { items: [{ qty: 2 }, { qty: 3 }] },
      meta: { vip: true },
    });
    expect(outcome).toMatchObject({ facts: [{ kind: 'person', set: { age: 41 } }] });
  });

  test.each([
    [
      { price: 'number' },
      { price: '9,50' },
      'price is "9,50"; the manifest says it is a number with a decimal point',
    ],
    [{ ok: 'boolean' }, { ok: 'ja' }, 'ok is "ja"; the manifest says it is a boolean'],
    [
      { at: 'epoch_ms' },
      { at: '12' },
      'at is "12"; the manifest says it is a time of epoch_ms between 1970 and 2100',
    ],
    [{ 'a.b': 'json' }, { a: { b: '{' } }, 'a.b is "{"; the manifest says it is JSON'],
  ])('%j rejects %j, and says what and why', (types, record, detail) => {
    expect(map({ types }, record)).toMatchObject({ kind: 'rejected', reason: 'bad_field', detail });
  });

  test('leave alone what is no value', () => {
    const csv = create({ types: { price: 'number' } }, {}, 'csv');
    expect(only(csv({ ...RECORD, price: '' })).properties).not.toHaveProperty('price');
    expect(only(map({ types: { price: 'number' } }, {})).properties).not.toHaveProperty('price');
  });

  test('change no id: the same record is the same event, whatever types are declared', () => {
    const record = { price: '9.50', plan: '1' };
    const plain = only(map({}, record)).uuid;
    expect(only(map({ types: { price: 'number' }, values: { plan: { 1: 'free' } } }, record)).uuid).toBe(
      plain,
    );
  });
});

test('value maps name events, skip values, and leave others and their types as they are', () => {
  const mapping = {
    values: { e: { buy: 'Bought' }, plan: { 1: 'free', true: 'pro' }, price: { 'n/a': null } },
    types: { price: 'number' },
  };
  expect(only(map(mapping, { e: 'buy', plan: 1, price: 'n/a' }))).toMatchObject({
    event: 'Bought',
    properties: { plan: 'free' },
  });
  expect(only(map(mapping, { e: 'buy', plan: 1, price: 'n/a' })).properties).not.toHaveProperty('price');
  expect(only(map(mapping, { e: 'other', plan: true, price: '2' }))).toMatchObject({
    event: 'other',
    properties: { plan: 'pro', price: 2 },
  });
  expect(map(mapping, { e: 'buy' }, { dropEvents: ['buy'] })).toMatchObject({
    reason: 'excluded_by_manifest',
  });
  expect(map(mapping, { e: 'buy' }, { dropEvents: ['Bought'] })).toMatchObject({ kind: 'mapped' });
});

describe('hashing', () => {
  const hash = { columns: ['u', 'd', 'email', 'profile.phone', 'tags'], key: '${HASH_KEY}' };

  test('is keyed, reaches ids and paths, and joins what joined', () => {
    const mapping = { hash, anonymousId: { column: 'd' }, person: { set: { columns: ['email'] } } };
    const record = {
      u: ' 7 ',
      d: 'dev',
      email: 'ann@x.org',
      profile: { phone: 4711 },
      tags: ['a', 'ann@x.org'],
    };
    const outcome = map(mapping, record);
    expect(only(outcome).properties).toMatchObject({
      distinct_id: hashed('7'),
      profile: { phone: hashed('4711') },
      tags: [hashed('a'), hashed('ann@x.org')],
    });
    expect(outcome).toMatchObject({
      facts: [
        { kind: 'pair', anonId: hashed('dev'), userId: hashed('7') },
        { kind: 'person', distinctId: hashed('7'), set: { email: hashed('ann@x.org') } },
      ],
    });
    expect(JSON.stringify(outcome)).not.toMatch(/ann@x|4711|"dev"/);
    // A number in JSON and its text in a CSV are one id.
    expect(only(map({ hash }, { u: 7 })).properties.distinct_id).toBe(hashed('7'));
  });

  test('reaches a path under every name that leads there, as none of them may be sent', () => {
    const phones = {
      'profile.phone': 4711,
      profile: { phone: '4711' },
      'a.b': { c: 'ann@x.org' },
      a: { 'b.c': 'ann@x.org', b: [{ c: 'ann@x.org' }] },
    };
    const columns = ['profile.phone', 'a.b.c', 'spread.profile.phone'];
    const mapping = { hash: { ...hash, columns }, spreadColumns: ['spread'] };
    const outcome = map(mapping, { ...phones, spread: phones });
    expect(JSON.stringify(outcome)).not.toMatch(/4711/);
    expect(only(outcome).properties).toMatchObject({
      'profile.phone': hashed('4711'),
      'a.b': { c: hashed('ann@x.org') },
      a: { 'b.c': hashed('ann@x.org'), b: [{ c: hashed('ann@x.org') }] },
    });
    const hide = createHideHashed({ ...BASE, ...mapping, exclude: [], jsonColumns: [], groups: [] } as never);
    expect(JSON.stringify(hide?.({ ...phones }))).not.toMatch(/4711|ann@x/);
    // What is read, and a type is given to, is the first.
    const typed = only(map({ types: { 'n.m': 'number' } }, { 'n.m': '1', n: { m: '2' } }));
    expect(typed.properties).toMatchObject({ 'n.m': 1, n: { m: '2' } });
  });

  test('leaves what stands for nobody, so that it becomes nobody', () => {
    expect(map({ hash }, { u: 'null' })).toMatchObject({ kind: 'rejected', reason: 'no_identity' });
  });

  describe('what is no id without it is none with it:', () => {
    const nobodies = [true, false, {}, { id: 1 }, [1], [true], 'true', 'null', '', ' ', 0, '0', null];
    const columns = ['u', 'd', 'c', 'in.u', 'items', 'spread.u'];
    const all = { columns, key: '${HASH_KEY}' };
    const groups = [{ type: 'company', column: 'c', set: { columns: ['size'] } }];
    const kinds = (outcome: MapOutcome) =>
      outcome.kind === 'rejected' ? [outcome.reason] : outcome.facts.map(({ kind }) => kind);

    test.each(nobodies)('%j', (nobody) => {
      const both = (mapping: object, record: object) => {
        const plain = map(mapping, record);
        const outcome = map({ ...mapping, hash: all }, record);
        expect(kinds(outcome)).toEqual(kinds(plain));
        return outcome;
      };
      for (const column of ['u', ['u'], 'in.u', 'spread.u', ['u', 'in.u']])
        expect(
          both(
            { distinctId: { column }, spreadColumns: ['spread'] },
            { u: nobody, in: { u: nobody }, spread: { u: nobody } },
          ),
        ).toMatchObject({ reason: 'no_identity' });
      const fallsBack = both(
        { distinctId: { column: ['u', 'd'] }, anonymousId: { column: 'd' } },
        { u: nobody, d: 'dev' },
      );
      expect(only(fallsBack).properties.distinct_id).toBe(hashed('dev'));
      expect(fallsBack).toMatchObject({ facts: [] });
      expect(both({ anonymousId: { column: 'd' } }, { d: nobody })).toMatchObject({ facts: [] });
      const grouped = both({ groups }, { c: nobody, size: 3 });
      expect(grouped).toMatchObject({ facts: [] });
      expect(only(grouped).properties).not.toHaveProperty('$groups');
      const items = nobody === null ? [false] : [nobody];
      both({ unnest: { column: 'items' }, distinctId: { column: ['items', 'd'] } }, { items, d: 'dev' });
      expect(both({ unnest: { column: 'items' }, distinctId: { column: 'items' } }, { items })).toMatchObject(
        { kind: 'rejected' },
      );
    });

    test('and what was hashed is not read in the place of it', () => {
      const record = { u: { id: 'ann' }, 'in.u': true, in: { u: 'ann' } };
      for (const column of ['u.id', 'in.u'])
        expect(map({ distinctId: { column }, hash: all }, record)).toMatchObject({ reason: 'no_identity' });
    });

    test('while properties and the ids of events are hashes as ever', () => {
      const event = only(map({ hash: all, key: ['u', 'in.u'], distinctId: { column: 'd' } }, KEYED));
      expect(event.uuid).toBe('d4af0b15-a854-519d-9bf5-305dbb2647ef');
      expect(event.properties).toMatchObject({
        in: { u: hashed('false') },
        spread: { u: hashed('{"a":1}') },
      });
    });
  });

  test('reaches into JSON text of a cell', () => {
    const csv = create(
      { hash: { ...hash, columns: ['details.email'] }, jsonColumns: ['details'] },
      {},
      'csv',
    );
    const { properties } = only(csv({ ...RECORD, details: '{"email":"ann@x.org","n":1}' }));
    expect(properties).toMatchObject({ details: { email: hashed('ann@x.org'), n: 1 } });
    expect(csv({ ...RECORD, details: '{' })).toMatchObject({ kind: 'rejected', reason: 'bad_field' });
  });

  test('hides what an id of an event is made of', () => {
    const keyed = only(map({ hash, key: ['email'] }, { email: 'ann@x.org' })).uuid;
    expect(keyed).not.toBe(only(map({ key: ['email'] }, { email: 'ann@x.org' })).uuid);
    expect(keyed).toBe(only(map({ key: ['email'] }, { email: hashed('ann@x.org') })).uuid);
  });

  test('is not done without a key, or with one that can be guessed', () => {
    const { block } = getSourceType('jsonl');
    const source = bindSource(block.parse({ type: 'jsonl', from: 'x', mapping: { ...BASE, hash } }));
    expect(() => source.createMap()).toThrow(/hash.key: the variable that it names is not set/);
    expect(() => source.createMap({ hashKey: 'short' })).toThrow(/fewer than 16 characters/);
    const both = { ...BASE, hash, types: { email: 'text' } };
    expect(() => block.parse({ type: 'jsonl', from: 'x', mapping: both })).toThrow(/"email\\" is hashed/);
    const plain = { ...BASE, hash: { ...hash, key: 'the key itself' } };
    expect(() => block.parse({ type: 'jsonl', from: 'x', mapping: plain })).toThrow(
      /stays out of the manifest/,
    );
  });
});

describe('unnesting', () => {
  const unnest = { column: 'items' };
  const items = [
    { sku: 'a', qty: '1' },
    { sku: 'b', qty: '2' },
  ];

  test('makes an event of each item, which takes the place of the list', () => {
    const outcome = map(
      { unnest, event: { column: 'items.sku' }, spreadColumns: ['items'], types: { 'items.qty': 'number' } },
      { items, shop: 'x' },
    );
    expect(events(outcome).map(({ event, properties }) => [event, properties])).toEqual([
      ['a', expect.objectContaining({ sku: 'a', qty: 1, shop: 'x' })],
      ['b', expect.objectContaining({ sku: 'b', qty: 2, shop: 'x' })],
    ]);
  });

  test('gives ids that follow from the key of the record and the place of the item', () => {
    const uuids = (mapping: object, list: unknown = items, more: object = {}) =>
      events(
        map(
          { unnest, ...mapping },
          { items: list, order: 7, id: '0c3e5a10-1111-4b6e-8f00-000000000020', ...more },
        ),
      ).map(({ uuid }) => uuid);
    for (const mapping of [{}, { key: ['order'] }, { uuid: { column: 'id' } }]) {
      const all = uuids(mapping);
      expect(new Set(all).size).toBe(2);
      expect(uuids(mapping, JSON.stringify(items))).toEqual(all);
      expect(uuids(mapping, [items[0], items[0]])[0]).toBe(all[0]);
    }
    // Equal items are different events all the same.
    expect(new Set(uuids({}, [items[0], items[0]])).size).toBe(2);
    const own = '0c3e5a10-1111-4b6e-8f00-000000000021';
    expect(uuids({ uuid: { column: 'items.id' } }, [{ id: own }])).toEqual([own]);
  });

  test.each<[unknown, object]>([
    [undefined, { kind: 'skipped', reason: 'no_items' }],
    [[], { kind: 'skipped', reason: 'no_items' }],
    ['x', { kind: 'rejected', detail: 'items is "x"; a list was expected' }],
    [{}, { kind: 'rejected', detail: 'items is an object; a list was expected' }],
    [[1, null], { kind: 'rejected', detail: 'items[1] is null; an item was expected' }],
    [new Array(1000).fill(1), { kind: 'mapped' }],
    [new Array(1001).fill(1), { kind: 'rejected', reason: 'bad_field' }],
  ])('of %j is %j', (list, outcome) => {
    expect(map({ unnest }, { items: list })).toMatchObject(outcome);
  });

  test('rejects the record with any of its items, and names it', () => {
    expect(map({ unnest, event: { column: 'items.sku' } }, { items: [{ sku: 'a' }, {}] })).toMatchObject({
      kind: 'rejected',
      detail: expect.stringContaining('items[1]: '),
    });
  });

  test('marks every user that the items name', () => {
    const outcome = map(
      { unnest, distinctId: { column: 'items.who' } },
      { items: [{ who: 'a' }, { who: 'b' }, { who: 'a' }] },
    );
    expect(outcome).toMatchObject({ userId: 'a', otherUserIds: ['b'] });
  });
});

test.each([
  [200, { kind: 'mapped', facts: [{ kind: 'group', set: { size: 3 } }] }],
  [201, { kind: 'rejected', reason: 'id_too_long', detail: expect.stringMatching(/^group key .* of c;/) }],
])('a group key of %i characters is sent, or rejects its record', (length, outcome) => {
  const groups = [{ type: 'company', column: 'c', set: { columns: ['size'] } }];
  expect(map({ groups }, { c: 'k'.repeat(length), size: 3 })).toMatchObject(outcome);
});

describe('values that claim one name', () => {
  const mapping = {
    rename: { a: 'b', old: 'plan', older: 'plan', 'in.x': 'y' },
    spreadColumns: ['s', 'more'],
    person: { set: { columns: ['mail'], prefix: 'p_' } },
  };
  const record = {
    ...{ a: 'A', b: 'B', z: 'Z', older: 'o1', old: 'o2', plan: 'o3', y: 'Y', in: { x: 'X' } },
    ...{ s: { b: 'sb', z: 'sz', w: 'w1', a: 'Z' }, more: { w: 'w2', z: 'Z' } },
    ...{ $set: 'S', source_$set: 'SS', mail: 'm1', p_mail: 'm2' },
  };

  test('are all kept, under names that do not depend on their order', () => {
    const turned = (of: object) => Object.fromEntries(Object.entries(of).toReversed());
    for (const each of [record, turned({ ...record, s: turned(record.s) })]) {
      const outcome = map(mapping, each);
      const { $geoip_disable: _, distinct_id: __, ...properties } = only(outcome).properties;
      expect(properties).toEqual({
        ...{ b: 'A', source_b: 'B', source_source_b: 'Z', source_source_source_b: 'sb' },
        ...{ z: 'Z', source_z: 'sz', w: 'w1', source_w: 'w2' },
        ...{ plan: 'o2', source_plan: 'o1', source_source_plan: 'o3' },
        ...{ y: 'Y', source_y: 'X', source_$set: 'SS', source_source_$set: 'S' },
      });
      expect(outcome).toMatchObject({ facts: [{ set: { mail: 'm1', source_mail: 'm2' } }] });
    }
  });

  test('keep their names where a record has but one of them', () => {
    const { properties } = only(map(mapping, { a: 'A', s: { z: 'sz' }, older: 'o1' }));
    expect(properties).toMatchObject({ b: 'A', z: 'sz', plan: 'o1' });
    expect(Object.keys(properties).filter((name) => name.startsWith('source_'))).toEqual([]);
  });
});

test('constants are on every event, under names of their own', () => {
  const { properties } = only(map({ constants: { shop: 'x', n: 1, $set: 'no' } }, { shop: 'other' }));
  expect(properties).toMatchObject({ shop: 'x', n: 1, source_$set: 'no' });
});

test('names are excluded and renamed inside lists too', () => {
  const mapping = { rename: { 'items.sku': 'product' }, exclude: ['items.cost'] };
  expect(only(map(mapping, { items: [{ sku: 'a', cost: 1 }, { cost: 2 }] })).properties['items']).toEqual([
    { product: 'a' },
    {},
  ]);
});

test('an address that is renamed to $current_url is completed as that of a live client', () => {
  const url = 'https://shop.example.com:8080/a?utm_source=mail';
  expect(only(map({ rename: { url: '$current_url' } }, { url })).properties).toMatchObject({
    $host: 'shop.example.com:8080',
    $pathname: '/a',
    utm_source: 'mail',
  });
});

test('no rule ever throws, and the order of fields changes nothing', () => {
  const mapRecord = create({
    hash: { columns: ['u', 'a.b'], key: '${K}' },
    values: { c: { 1: 2 } },
    types: { 'a.c': 'number', d: 'boolean', f: 'json' },
    unnest: { column: 'items' },
    constants: { x: null },
    rename: { 'items.n': 'm' },
    exclude: ['a.d'],
  });
  const value = fc.jsonValue({ maxDepth: 3 });
  const names = fc.constantFrom('u', 'a', 'c', 'd', 'f', 'items', 't', 'e', '__proto__', 'kind', 'a.b');
  const fields = fc.dictionary(
    names,
    fc.oneof(value, fc.array(fc.dictionary(fc.constantFrom('b', 'c', 'n'), value))),
  );
  fc.assert(
    fc.property(fields, fc.boolean(), (more, isWhole) => {
      const record = isWhole ? { ...RECORD, ...more } : more;
      const outcome = mapRecord(record);
      const turned = Object.fromEntries(Object.entries(record).toReversed());
      const uuids = (of: MapOutcome) =>
        events(of).map(({ uuid, event, timestamp }) => [uuid, event, timestamp]);
      expect(mapRecord(turned).kind).toBe(outcome.kind);
      expect(uuids(mapRecord(turned))).toEqual(uuids(outcome));
    }),
    { numRuns: 500 },
  );
});
