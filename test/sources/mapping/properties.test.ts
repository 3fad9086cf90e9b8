import { describe, expect, it } from 'vitest';
import { PropertyList } from '../../../src/lib/json/property-list.ts';
import { copyProperties, createRenames } from '../../../src/sources/mapping/properties.ts';
import { createMapper } from '../create-mapper.ts';

/** Written out here once more: a name that goes missing in the code must be missed by a test. */
const RESERVED = [
  'distinct_id',
  '$distinct_id',
  'token',
  '$token',
  'api_key',
  'sent_at',
  '$sent_at',
  '$ignore_sent_at',
  'offset',
  '_',
  '$set',
  '$set_once',
  '$unset',
  '$anon_distinct_id',
  '$groups',
  '$process_person_profile',
  '__proto__',
];

/** As JSON.parse would make it: `__proto__` is a field like any other. */
const withField = (name: string, value: unknown): Record<string, unknown> =>
  JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);

it('names that mean nothing to the destination stay as they are', () => {
  const properties = new PropertyList();
  copyProperties(properties, { plan: 'pro', $browser: 'Firefox', Offset: 1 }, createRenames());
  expect(properties.toObject()).toEqual({ plan: 'pro', $browser: 'Firefox', Offset: 1 });
});

describe.each(RESERVED)('a property named %s', (name) => {
  const renamed = `source_${name}`;
  const time = '2023-03-14T09:26:53Z';

  it('is copied under another name', () => {
    const properties = new PropertyList();
    copyProperties(properties, withField(name, 'x'), createRenames());
    expect(Object.entries(properties.toObject())).toEqual([[renamed, 'x']]);
  });

  it.each([
    [
      'amplitude',
      (own: object) => ({ event_type: 'e', event_time: time, user_id: 'u', event_properties: own }),
    ],
    [
      'segment',
      (own: object) => ({ type: 'track', event: 'e', timestamp: time, userId: 'u', properties: own }),
    ],
    ['rudderstack', (own: object) => ({ type: 'page', timestamp: time, userId: 'u', properties: own })],
    ['jsonl', (own: object) => ({ e: 'e', at: time, u: 'u', own })],
    ['csv', (own: object) => ({ e: 'e', at: time, u: 'u', own: JSON.stringify(own) })],
  ])('of %s is sent as source_…, in every version', (source, toRecord) => {
    const declared = {
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 'at' },
        jsonColumns: ['own'],
        spreadColumns: ['own'],
      },
    };
    for (const version of [1, 2]) {
      const options = source === 'jsonl' || source === 'csv' ? declared : {};
      const outcome = createMapper(source, options, { version })(toRecord(withField(name, 'x')));
      if (outcome.kind !== 'mapped') throw new Error(JSON.stringify(outcome));
      const properties = outcome.events[0]?.properties ?? { distinct_id: '' };
      expect(properties[renamed]).toBe('x');
      expect(Object.hasOwn(properties, name)).toBe(name === 'distinct_id');
      expect(properties.distinct_id).toBe('u');
    }
  });
});
