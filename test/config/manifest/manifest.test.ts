import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  createManifestJsonSchema,
  type Manifest,
  manifestSchema,
  tooManyRejects,
} from '../../../config/manifest/manifest.ts';

const SCHEMA = new URL('../../../config/manifest.schema.json', import.meta.url);

const parse = (more: Record<string, unknown> = {}): Manifest =>
  manifestSchema.parse({ name: 'a', source: { type: 'amplitude', from: 'x' }, ...more });
const destination = { url: 'https://a.example.com', apiKey: '${KEY}' };

describe('limits', () => {
  test('hold the contract to every explicit destination, and the bundled API to none', () => {
    expect(parse().limits.eventsPerMinute).toBeUndefined();
    expect(parse({ destination }).limits.eventsPerMinute).toBe(10_000);
    expect(parse({ destination, limits: { eventsPerMinute: 300 } }).limits.eventsPerMinute).toBe(300);
    expect(parse({ limits: { eventsPerMinute: 300 } }).limits.eventsPerMinute).toBe(300);
  });

  test('make a batch no larger than the budget of a minute', () => {
    expect(parse({ destination, limits: { eventsPerMinute: 300 } }).limits.batch.events).toBe(300);
    expect(parse({ destination, limits: { eventsPerMinute: 5_000 } }).limits.batch.events).toBe(1_000);
  });

  test.each([
    ['5MiB', 5_242_880],
    ['512KiB', 524_288],
    ['1MB', 1_000_000],
    ['1.5 mib', 1_572_864],
    ['65536', 65_536],
    [9_437_184, 9_437_184],
  ])('read %j as bytes', (written, bytes) => {
    expect(parse({ limits: { batch: { bytes: written } } }).limits.batch.bytes).toBe(bytes);
  });

  test.each(['9.1MiB', 65_535, '5 apples', -1, '5M'])('refuse %j as a size', (written) => {
    expect(() => parse({ limits: { batch: { bytes: written } } })).toThrow(/size from 64KiB to 9MiB/);
  });

  test('end at what a destination takes', () => {
    expect(parse({ limits: { batch: { events: 10_000 } } }).limits.batch.events).toBe(10_000);
    expect(() => parse({ limits: { batch: { events: 10_001 } } })).toThrow();
  });
});

describe('people.groupIdentifyEvent', () => {
  const withName = (groupIdentifyEvent: string) => parse({ people: { groupIdentifyEvent } });

  test.each(['$group_identify', '$groupidentify', 'Group described'])('takes %j', (name) => {
    expect(withName(name).people.groupIdentifyEvent).toBe(name);
  });

  // As an event about a group each of these would change a person whose id is the group's.
  test.each(['$identify', '$create_alias', '$merge_dangerously', '$set', '$delete_person_property'])(
    'refuses %j',
    (name) => expect(() => withName(name)).toThrow(/changes persons at the destination/),
  );

  test.each([
    '$performance_event',
    '$snapshot',
    '$pageview',
    '$pageleave',
    '$screen',
    '$autocapture',
    '$rageclick',
    '$feature_flag_called',
    '$exception',
    '$$heatmap',
  ])('refuses %j, which is taken for something else or dropped', (name) =>
    expect(() => withName(name)).toThrow(/means something else to the destination/),
  );

  test('refuses a blank one', () => expect(() => withName(' ')).toThrow(/is blank/));
});

describe('destination.acceptance', () => {
  const withAcceptance = (acceptance: unknown) => parse({ destination: { ...destination, acceptance } });

  test.each([
    { status: 204 },
    { fields: { success: true, left: null, count: 0, state: 'queued' } },
    { status: 202, fields: { ok: 1 } },
  ])('takes %j', (acceptance) => {
    expect(withAcceptance(acceptance).destination?.acceptance).toEqual(acceptance);
  });

  test.each([{}, { status: 199 }, { status: 300 }, { fields: {} }, { fields: { a: [] } }, { body: 'ok' }])(
    'refuses %j',
    (acceptance) => {
      expect(() => withAcceptance(acceptance)).toThrow();
    },
  );
});

test.each(['a', '0-a_b.c', 'a'.repeat(63)])('takes the name %s', (name) => {
  expect(parse({ name }).name).toBe(name);
});
test.each(['', 'A', '-a', '.a', 'a/b', 'a b', 'a'.repeat(64), '../a'])('refuses the name %j', (name) => {
  expect(() => parse({ name })).toThrow();
});

test('the delimiter of a CSV is one character, a comma by default, and tab can be spelled out', () => {
  const mapping = { event: { constant: 'x' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };
  const csv = (more: object) => parse({ source: { type: 'csv', from: 'x', mapping, ...more } }).source;
  expect(csv({})).toMatchObject({ delimiter: ',' });
  expect(csv({ delimiter: 'tab' })).toMatchObject({ delimiter: '\t' });
  expect(csv({ delimiter: ';' })).toMatchObject({ delimiter: ';' });
  expect(() => csv({ delimiter: '' })).toThrow();
  expect(() => csv({ delimiter: ';;' })).toThrow();
});

test('reading a manifest that was read before changes nothing', () => {
  const mapping = {
    event: { column: ['a', 'b'] },
    distinctId: { column: 'u' },
    timestamp: { column: 't', format: 'epoch_ms' },
    groups: [{ type: 'company', column: 'c', set: { prefix: 'c_' } }],
  };
  const approval = { reference: 'request 1', eventsPerMinute: 20_000 };
  for (const source of [
    { type: 'amplitude', from: 'x', groupTypes: ['a'] },
    { type: 'segment', from: ['x', 'y'] },
    { type: 'rudderstack', from: 'x', timezone: 'Asia/Kolkata' },
    { type: 'jsonl', from: 'x', mapping },
    { type: 'csv', from: 'x', delimiter: 'tab', mapping },
  ]) {
    const once = parse({ source, destination, approval, rejects: { failAbove: 3 } });
    expect(manifestSchema.parse(once)).toEqual(once);
  }
});

describe('tooManyRejects', () => {
  test.each([
    ['1%', 1_000, 10, false],
    ['1%', 1_000, 11, true],
    ['0.5%', 1_000, 5, false],
    ['0.5%', 1_000, 6, true],
    ['0%', 1_000, 1, true],
    ['100%', 10, 10, false],
    ['1%', 0, 0, false],
    [0, 10, 0, false],
    [0, 10, 1, true],
    [5, 1_000, 5, false],
    [5, 1_000, 6, true],
  ] as const)('of %s, %i records, %i rejected: %s', (failAbove, read, rejected, expected) => {
    expect(tooManyRejects(failAbove, { read, rejected })).toBe(expected);
  });
});

test('config/manifest.schema.json is what the schema makes of it (UPDATE_GOLDEN=1 rewrites it)', async () => {
  if (process.env['UPDATE_GOLDEN'])
    await writeFile(SCHEMA, `${JSON.stringify(createManifestJsonSchema(), null, 2)}\n`);
  expect(JSON.parse(await readFile(SCHEMA, 'utf8'))).toEqual(createManifestJsonSchema());
});

test('every key of the JSON Schema is described, for the editor to show', () => {
  const undescribed: string[] = [];
  const walk = (node: unknown, path: string, keys: boolean) => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, child] of Object.entries(node)) {
      const isKey = keys && !['type', 'column', 'constant'].includes(key);
      if (isKey && !('description' in (child as object))) undescribed.push(`${path}.${key}`);
      walk(child, `${path}.${key}`, key === 'properties');
    }
  };
  walk(createManifestJsonSchema()['properties'], '', true);
  expect(undescribed).toEqual([]);
});
