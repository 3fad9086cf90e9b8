import { describe, expect, it } from 'vitest';
import type { MapNote } from '../../../src/sources/source.ts';
import { createMapper } from '../create-mapper.ts';

/** Version 3 of both dialects: what a call carries beside its own properties. */
const call = {
  type: 'track',
  event: 'Opened',
  userId: 'u-1',
  anonymousId: 'a-1',
  timestamp: '2023-03-14T09:26:53.120Z',
};

const SPEC = 'https://segment.com/docs/connections/spec/common/';
const JITSU = 'jitsucom/jitsu, data layout tests';
const ARCHIVES = 'archives of analytics.js and RudderStack';

const propertiesOf = (source: string, fields: object, options = {}) => {
  const outcome = createMapper(source, options, { version: 3 })({ ...call, ...fields });
  return outcome.kind === 'mapped' ? outcome.events[0]?.properties : outcome;
};

const ROWS: readonly [rule: string, from: string, context: object, expected: object][] = [
  ['library', SPEC, { library: { name: 'x.js', version: '1' } }, { $lib: 'x.js', $lib_version: '1' }],
  ['library as a text', ARCHIVES, { library: 'x.js' }, { $lib: 'x.js' }],
  ['host with its port', JITSU, { page: { url: 'https://a.example:8443/x' } }, { $host: 'a.example:8443' }],
  ['host without an address', JITSU, { page: { host: 'a.example:1' } }, { $host: 'a.example:1' }],
  [
    'referring domain',
    ARCHIVES,
    { page: { referring_domain: 'ref.example' } },
    { $referring_domain: 'ref.example' },
  ],
  [
    'size of the window',
    ARCHIVES,
    { screen: { width: 3, innerWidth: 1, innerHeight: 2 } },
    { $screen_width: 3, $viewport_width: 1, $viewport_height: 2 },
  ],
  [
    'platform of a phone',
    SPEC,
    { device: { type: 'Android', model: 'SM-G991B' } },
    { $device_type: 'Mobile', context_device_type: 'Android' },
  ],
  ['platform of a tablet', SPEC, { device: { type: 'ios', model: 'iPad13,1' } }, { $device_type: 'Tablet' }],
  [
    'platform of another tablet',
    SPEC,
    { device: { type: 'Android', model: 'SM-T510' } },
    { $device_type: 'Tablet' },
  ],
  ['type of a device', SPEC, { device: { type: 'desktop' } }, { $device_type: 'Desktop' }],
  ['group', SPEC, { groupId: 'g-1' }, { $groups: { company: 'g-1' } }],
  [
    'leaf that nothing knows',
    SPEC,
    { tenant: 't', active: true },
    { context_tenant: 't', context_active: true },
  ],
  [
    'leaf below known fields',
    ARCHIVES,
    { page: { tab_url: 'x' }, campaign: { id: 7 } },
    { context_page_tab_url: 'x', context_campaign_id: 7 },
  ],
  [
    'list',
    SPEC,
    { externalIds: [{ id: 'x', type: 'y' }] },
    { context_externalIds: [{ id: 'x', type: 'y' }] },
  ],
  ['value where an object was expected', SPEC, { page: 'start' }, { context_page: 'start' }],
  [
    'nesting without end',
    'no limit in the spec',
    { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } },
    { context_a_b_c_d_e_f: { g: 1 } },
  ],
];

describe.each(['segment', 'rudderstack'])('the context of a call archived by %s', (source) => {
  it.each(ROWS)('%s (%s)', (_rule, _from, context, expected) => {
    expect(propertiesOf(source, { context })).toMatchObject(expected);
  });

  it('is no device type where it names anything else', () => {
    expect(propertiesOf(source, { context: { device: { type: 'toaster' } } })).not.toHaveProperty(
      '$device_type',
    );
  });

  it('never repeats what is read, and keeps nothing that is empty', () => {
    const context = {
      ip: '203.0.113.9',
      groupId: 'g',
      traits: { plan: 'gold' },
      page: { url: 'https://a.example/', title: '', initial_referrer: '$direct' },
      sessionId: 1_678_785_000_000,
      network: { carrier: null },
      tenant: '',
    };
    const names = Object.keys(propertiesOf(source, { context }) ?? {});
    expect(names.filter((name) => name.startsWith('context_'))).toEqual([]);
  });

  it('gives way to a property of the customer of the same name', () => {
    const fields = { context: { tenant: 'a' }, properties: { context_tenant: 'b' } };
    expect(propertiesOf(source, fields)).toMatchObject({ context_tenant: 'b' });
  });

  it('stays behind where the manifest says so', () => {
    const context = { tenant: 'a', ip: '203.0.113.9' };
    const properties = propertiesOf(source, { context }, { contextFields: 'drop' });
    expect(properties).toMatchObject({ $ip: '203.0.113.9' });
    expect(properties).not.toHaveProperty('context_tenant');
  });
});

const factsOf = (fields: object) => {
  const outcome = createMapper('segment', {}, { version: 3 })({ ...call, ...fields });
  return outcome.kind === 'rejected' ? [] : outcome.facts.filter(({ kind }) => kind === 'person');
};

describe('the traits in a context', () => {
  const context = { traits: { plan: 'gold' } };
  const said = { kind: 'person', distinctId: 'u-1', set: { plan: 'gold' } };

  it.each(['track', 'page', 'screen'])(
    'of a %s call feed the person (destinations send them as $set)',
    (type) => {
      expect(factsOf({ type, context })).toEqual([{ ...said, time: '2023-03-14T09:26:53.119Z' }]);
    },
  );

  it.each([
    ['2023-03-14T09:26:53.120Z', '2023-03-14T09:26:53.119Z'],
    ['2023-03-14T09:26:53.121Z', '2023-03-14T09:26:53.120Z'],
    ['2023-03-14T09:27:00.000Z', '2023-03-14T09:26:59.999Z'],
    ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
  ])('said at %s are older than an identify call of that time', (timestamp, time) => {
    expect(factsOf({ timestamp, context })).toMatchObject([{ time }]);
    expect(factsOf({ type: 'identify', timestamp, traits: { plan: 'x' } })).toMatchObject([
      { time: timestamp },
    ]);
  });

  it('are those of the anonymous person where nobody is known', () => {
    expect(factsOf({ userId: null, context })).toMatchObject([{ distinctId: 'a-1' }]);
  });

  it('are nothing where they are empty, or no object', () => {
    for (const traits of [{}, [], 'gold', null]) expect(factsOf({ context: { traits } })).toEqual([]);
  });

  it('come with the first visit, which is set once', () => {
    const page = { initial_referrer: 'https://a.example/', initial_referring_domain: 'a.example' };
    expect(factsOf({ context: { page } })).toMatchObject([
      {
        setOnce: { $initial_referrer: 'https://a.example/', $initial_referring_domain: 'a.example' },
      },
    ]);
  });

  it.each([
    [{ initial_referrer: '$direct', initial_referring_domain: '' }, '$direct', '$direct'],
    [
      { initial_referrer: 'https://www.google.com/search' },
      'https://www.google.com/search',
      'www.google.com',
    ],
    [{ initial_referrer: 'a friend' }, 'a friend', undefined],
    [{ initial_referrer: 'EMPTY', initial_referring_domain: 'a.example' }, undefined, 'a.example'],
  ])('name the domain that their first visit %j came from', (page, referrer, domain) => {
    const [fact] = factsOf({ context: { page } });
    expect(fact).toEqual(
      expect.objectContaining({
        setOnce: {
          ...(referrer === undefined ? {} : { $initial_referrer: referrer }),
          ...(domain === undefined ? {} : { $initial_referring_domain: domain }),
        },
      }),
    );
  });
});

describe('the type of a group', () => {
  it.each([
    [{}, 'company'],
    [{ groupType: 'team' }, 'team'],
  ])('is the same for group calls and for the context of others, with options %j', (options, expected) => {
    const notes: MapNote[] = [];
    const map = createMapper('segment', options, { version: 3, onNote: (note) => notes.push(note) });
    const group = map({ ...call, type: 'group', groupId: 'g-1', traits: { groupType: 'club', name: 'x' } });
    expect(group).toMatchObject({
      facts: [
        { kind: 'pair' },
        { kind: 'group', groupType: expected, set: { groupType: 'club', name: 'x' } },
      ],
    });
    expect(map({ ...call, context: { groupId: 'g-1' } })).toMatchObject({
      events: [{ properties: { $groups: { [expected]: 'g-1' } } }],
    });
    expect(notes).toEqual(['own_group_type']);
  });
});
