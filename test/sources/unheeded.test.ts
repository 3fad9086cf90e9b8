import { describe, expect, it } from 'vitest';
import { bindSource, getSourceType } from '../../src/sources/registry.ts';

const BLOCKS: Readonly<Record<string, object>> = {
  jsonl: {
    mapping: {
      event: { column: 'name' },
      distinctId: { column: 'user' },
      timestamp: { column: 'at' },
      key: ['name'],
      spreadColumns: ['more'],
    },
  },
  segment: {},
  amplitude: {},
};
const RECORDS: Readonly<Record<string, Record<string, unknown>>> = {
  jsonl: {
    name: 'Came',
    user: 'u-1',
    at: '2024-01-02T03:04:05Z',
    email: 'a@example.com',
    nested: { email: 'b@example.com' },
    more: { phone: '123' },
    items: [{ sku: 1 }, { sku: 2 }],
    $ip: '198.51.100.7',
  },
  segment: {
    type: 'track',
    event: 'Came',
    userId: 'u-1',
    messageId: 'm-1',
    timestamp: '2024-01-02T03:04:05.000Z',
    context: { ip: '198.51.100.7', plan: 'free' },
  },
  amplitude: {
    event_type: 'Came',
    event_time: '2024-01-02 03:04:05.000000',
    user_id: 'u-1',
    ip_address: '198.51.100.7',
    groups: { company: ['a'] },
  },
};

const parse = (type: string, more: Readonly<Record<string, unknown>> = {}) => {
  const { mapping } = BLOCKS[type] as { readonly mapping?: object };
  const block = {
    type,
    from: 'exports',
    ...more,
    ...(mapping && { mapping: { ...mapping, ...(more['mapping'] as object | undefined) } }),
  };
  return bindSource(getSourceType(type).block.parse(block));
};
const map = (type: string, version: number, more?: Readonly<Record<string, unknown>>) =>
  parse(type, more).createMap({ version, hashKey: 'a key of more than 16 characters' })(RECORDS[type] ?? {});

/** A key that changes what becomes of the record of its source, and a block that sets it. */
const KEYS = [
  ['jsonl', 'mapping.hash', { mapping: { hash: { columns: ['email'], key: '${KEY}' } } }],
  ['jsonl', 'mapping.values', { mapping: { values: { email: { 'a@example.com': 'a' } } } }],
  ['jsonl', 'mapping.types', { mapping: { types: { email: 'number' } } }],
  ['jsonl', 'mapping.unnest', { mapping: { unnest: { column: 'items' } } }],
  ['jsonl', 'mapping.exclude', { mapping: { exclude: ['nested.email'] } }],
  ['jsonl', 'mapping.exclude', { mapping: { exclude: ['phone'] } }],
  ['jsonl', 'mapping.constants', { mapping: { constants: { shop: 'Vienna' } } }],
  ['jsonl', 'mapping.rename', { mapping: { rename: { email: 'mail' } } }],
  ['jsonl', 'dropEvents', { dropEvents: ['Came'] }],
  ['jsonl', 'geoip', { geoip: 'destination' }],
  ['amplitude', 'geoip', { geoip: 'destination' }],
  ['amplitude', 'dropIp', { dropIp: true }],
  ['amplitude', 'groupTypes', { groupTypes: ['team'] }],
  ['segment', 'geoip', { geoip: 'destination' }],
  ['segment', 'dropIp', { dropIp: true }],
] as const;

describe.each(KEYS)('%s: %s', (type, key, block) => {
  it.each(getSourceType(type).versions.map((version) => [version]))(
    'changes what version %i maps, or is named as not heeded',
    (version) => {
      const isHeeded = JSON.stringify(map(type, version, block)) !== JSON.stringify(map(type, version));
      expect(parse(type, block).listUnheeded?.(version)).toEqual(isHeeded ? [] : [key]);
    },
  );
});

it('what earlier versions would leave behind is not asked of them', () => {
  expect(parse('segment', { contextFields: 'keep' }).listUnheeded?.(2)).toEqual(['contextFields']);
  expect(parse('segment', { contextFields: 'drop' }).listUnheeded?.(2)).toEqual([]);
});

it('paths into the text of a column are not followed before version 4', () => {
  const mapping = {
    jsonColumns: ['more'],
    distinctId: { column: 'more.user' },
    unnest: { column: 'more.items' },
  };
  const unheeded = (version: number) => parse('jsonl', { mapping }).listUnheeded?.(version);
  expect(unheeded(1)).toEqual(['mapping.unnest', 'mapping.distinctId']);
  expect(unheeded(3)).toEqual(['mapping.distinctId', 'mapping.unnest']);
  expect(unheeded(4)).toEqual([]);
});
