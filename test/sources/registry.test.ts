import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExactNumber } from '../../src/lib/json/exact-number.ts';
import { stringifyJson } from '../../src/lib/json/stringify-json.ts';
import type { IdFrom } from '../../src/sources/mapping/event-id.ts';
import {
  bindSource,
  getMappingName,
  getSourceType,
  listMappingNames,
  readPinnedVersion,
  SOURCE_TYPES,
} from '../../src/sources/registry.ts';
import { createMapper } from './create-mapper.ts';

const mapping = {
  event: { column: 'event' },
  distinctId: { column: ['user.id', 'anon'] },
  anonymousId: { column: 'anon' },
  timestamp: { column: 'at' },
  uuid: { column: 'uuid' },
  key: ['order', 'line'],
  person: { set: { prefix: 'user_' }, setOnce: { columns: ['first'] } },
  groups: [{ type: 'company', column: 'company', set: { prefix: 'company_' } }],
  jsonColumns: ['json', 'properties'],
  spreadColumns: ['properties'],
  rename: { first: '$set', anon: 'sent_at' },
};

/** A record of each source that maps, for arbitrary fields to be laid over. */
const sources = {
  amplitude: {
    block: { userPropertiesOnEvents: true },
    record: {
      event_type: 'Opened',
      event_time: '2023-03-14 09:26:53.123456',
      user_id: 'u-1',
      device_id: 'd-1',
      session_id: 1678785000000,
      event_properties: { a: 1 },
      user_properties: { initial_referrer: 'x' },
      groups: { company: ['a', 'b'] },
      group_properties: { company: { a: { b: 1 } } },
    },
  },
  segment: {
    block: {},
    record: {
      type: 'track',
      event: 'Opened',
      userId: 'u-1',
      anonymousId: 'a-1',
      timestamp: '2023-03-14T09:26:53.123Z',
      originalTimestamp: '2023-03-14T09:26:50.123Z',
      sentAt: '2023-03-14T09:26:51.123Z',
      receivedAt: '2023-03-14T09:26:54.123Z',
      context: {
        os: { name: 'x' },
        groupId: 'g',
        traits: { a: 1 },
        sessionId: 1678785000000,
        more: { b: [1] },
      },
      properties: { a: 1 },
      traits: { b: 2 },
      groupId: 'g',
      previousId: 'p',
    },
  },
  rudderstack: {
    block: {},
    record: {
      type: 'track',
      event: 'Opened',
      userId: 'u-1',
      timestamp: '2023-03-14T09:26:53.123Z',
      context: { sessionId: 1678785000000, traits: { a: 1 } },
      properties: { a: 1 },
    },
  },
  jsonl: {
    block: { mapping },
    record: {
      event: 'Opened',
      anon: 'a-1',
      'user.id': 'u-1',
      at: '2023-03-14T09:26:53Z',
      properties: { a: 1 },
    },
  },
  csv: {
    block: { mapping },
    record: {
      event: 'Opened',
      anon: 'a-1',
      'user.id': 'u-1',
      at: '2023-03-14T09:26:53Z',
      properties: '{"a":1}',
    },
  },
} as const;

const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  '$set',
  '_',
  'offset',
  'distinct_id',
  'hasOwnProperty',
  '',
];
const oddValues = fc.constantFrom<unknown>(
  '$identify',
  '$groupidentify',
  'session_start',
  'identify',
  'group',
  'alias',
  'page',
  'screen',
  'constructor',
  '\ud800',
  'null',
  '',
  new ExactNumber('12345678901234567890'),
  -1,
  { company: ['x'] },
);

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
    oddValues,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom(...oddNames)), tie('value'), { maxKeys: 4 }),
  ),
})).value;

const over = (record: Readonly<Record<string, unknown>>) =>
  fc
    .dictionary(fc.oneof(fc.constantFrom(...Object.keys(record), ...oddNames), fc.string()), json, {
      maxKeys: 3,
    })
    // As JSON.parse would make it: `__proto__` is a field like any other.
    .map((fields) => Object.fromEntries([...Object.entries(record), ...Object.entries(fields)]));

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]));
};

const VERSIONS = Object.entries(sources).flatMap(([source, { block, record }]) =>
  getSourceType(source).versions.map((version) => ({ source, version, block, record })),
);

describe.each(VERSIONS)('the map $source@$version', ({ source, version, block, record }) => {
  const map = createMapper(source, block, { version });
  // Released versions no longer change.
  const numRuns = version === Math.max(...getSourceType(source).versions) ? 400 : 100;

  it('gives every JSON object an outcome, and the same one each time', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(over(record), (arbitrary) => {
        const before = stringifyJson(arbitrary);
        const outcome = map(arbitrary);
        kinds.add(outcome.kind);
        expect(stringifyJson(createMapper(source, block, { version })(arbitrary))).toBe(
          stringifyJson(outcome),
        );
        expect(stringifyJson(arbitrary), 'a map leaves its record alone').toBe(before);
      }),
      { numRuns, examples: [[record], [{}]] },
    );
    expect(kinds).toContain('mapped');
    expect(kinds).toContain('rejected');
  });

  it('gives an event the same uuid whatever order the fields of its record came in', () => {
    fc.assert(
      fc.property(over(record), (arbitrary) => {
        const uuids = (outcome: ReturnType<typeof map>) =>
          outcome.kind === 'mapped' ? outcome.events.map(({ uuid }) => uuid) : outcome.kind;
        expect(uuids(map(reversed(arbitrary) as Record<string, unknown>))).toEqual(uuids(map(arbitrary)));
      }),
    );
  });

  it('lets nothing through that the destination would refuse or act upon', () => {
    fc.assert(
      fc.property(over(record), (arbitrary) => {
        const outcome = map(arbitrary);
        if (outcome.kind !== 'mapped') return;
        for (const { event, timestamp, properties } of outcome.events) {
          expect(event.trim()).not.toBe('');
          expect(event.length).toBeLessThanOrEqual(200);
          expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
          expect(properties.distinct_id.trim()).not.toBe('');
          expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
          for (const name of ['_', 'offset', 'sent_at', '$set', '$anon_distinct_id', '__proto__']) {
            expect(Object.hasOwn(properties, name)).toBe(false);
          }
        }
      }),
      { numRuns },
    );
  });
});

const ONE_ID = '0c3e5a10-1111-4b6e-8f00-00000000a001';

const toBlock = (type: string, options: object = {}) =>
  getSourceType(type).block.parse({ type, from: 'x', ...options });

describe('the registry', () => {
  it('pins each mapping by type and version', () => {
    expect(SOURCE_TYPES.map(({ type }) => getMappingName(type))).toEqual([
      'amplitude@5',
      'segment@4',
      'rudderstack@4',
      'jsonl@5',
      'csv@5',
    ]);
  });

  it('keeps every version that a migration may be pinned to', () => {
    for (const { type, versions } of SOURCE_TYPES) {
      expect(versions).toEqual(versions.map((_version, index) => index + 1));
      for (const version of versions) expect(readPinnedVersion(`${type}@${version}`, type)).toBe(version);
      const next = `${type}@${versions.length + 1}`;
      for (const pinned of [next, `${type}@0`, `${type}@01`, type, 'other@1', '']) {
        expect(readPinnedVersion(pinned, type), pinned).toBeUndefined();
      }
    }
    expect(listMappingNames('csv')).toBe('csv@1 and csv@2 and csv@3 and csv@4 and csv@5');
    expect(() => bindSource(toBlock('segment')).createMap({ version: 99 })).toThrow(/no version 99/);
  });

  it('has for every source and version a map that names records by all of their fields', () => {
    for (const [type, { block, record }] of Object.entries(sources)) {
      for (const version of getSourceType(type).versions) {
        const toUuid = (fields: object, idFrom: IdFrom) => {
          const outcome = createMapper(type, block, { version, idFrom })({ ...record, ...fields });
          return outcome.kind === 'mapped' ? outcome.events[0]?.uuid : outcome;
        };
        const ids = { uuid: ONE_ID, messageId: ONE_ID, order: '7', line: '1' };
        expect(toUuid({ ...ids, more: 1 }, 'vendor'), type).toBe(toUuid({ ...ids, more: 2 }, 'vendor'));
        expect(toUuid({ ...ids, more: 1 }, 'record'), type).not.toBe(toUuid({ ...ids, more: 2 }, 'record'));
        expect(toUuid({ ...ids, more: 1 }, 'record')).toBe(toUuid({ more: 1, ...ids }, 'record'));
        expect(toUuid(ids, 'record')).not.toBe(ONE_ID);
      }
    }
  });

  it('knows which fields of a record are read', () => {
    const fields = getSourceType('amplitude').knownFields();
    if (fields === 'all') throw new Error('a vendor map reads some fields only');
    for (const read of ['event_type', 'user_properties', 'city', 'os_name']) expect(fields).toContain(read);
    expect(fields).not.toContain('processed_time');
    expect(getSourceType('segment').knownFields()).toContain('context');
    expect(getSourceType('csv').knownFields()).toBe('all');
  });

  it('makes the map that a source block asks for', () => {
    const map = bindSource(toBlock('segment', { groupType: 'team' })).createMap();
    const outcome = map({ type: 'group', groupId: 'g', userId: 'u', timestamp: '2023-03-14T09:26:53Z' });
    expect(outcome).toMatchObject({ kind: 'skipped', facts: [{ kind: 'group', groupType: 'team' }] });
  });

  it('reads a block that was read before as the same block, as staging keeps it that way', () => {
    for (const { type, sample } of SOURCE_TYPES) {
      const once = toBlock(type, { ...sample?.options, timezone: 'Asia/Tokyo' });
      expect(getSourceType(type).block.parse(once)).toEqual(once);
    }
    const tabs = toBlock('csv', { mapping, delimiter: 'tab' });
    expect(getSourceType('csv').block.parse(tabs)).toEqual(tabs);
  });

  it('lists no type twice', () => {
    expect(new Set(SOURCE_TYPES.map(({ type }) => type)).size).toBe(SOURCE_TYPES.length);
  });

  it('has for every source a sample that its own map takes', () => {
    const event = {
      event_type: 'Opened',
      event_time: '2023-03-14 09:26:53.123456',
      user_id: 'u-1',
      device_id: 'd-1',
      uuid: '5a0b7c8e-93a4-4d8e-9c3e-0a1b2c3d4e5f',
      event_properties: { a: 1 },
      groups: { company: ['acme'] },
    };
    for (const { type, sample } of SOURCE_TYPES) {
      const outcome = createMapper(type, { ...sample?.options })(sample?.toRecord(event) ?? {});
      expect(outcome, type).toMatchObject({ kind: 'mapped', events: [{ event: 'Opened' }] });
    }
  });
});
