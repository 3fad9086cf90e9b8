import { expect, test } from 'vitest';
import { ExactNumber } from '../../../../src/lib/json/exact-number.ts';
import { createEventNamer } from '../../../../src/server/capture/request/name-events.ts';
import type { JsonObject } from '../../../../src/server/http/json.ts';

const timestamp = '2024-01-01T00:00:00Z';
const click = { event: 'click', distinct_id: 'a', timestamp };

function name(items: readonly JsonObject[], context: { projectUuid?: string; sentAtMs?: number } = {}) {
  const namer = createEventNamer(() => items, {
    projectUuid: 'project',
    sentAtMs: undefined,
    createUuid: () => 'random',
    ...context,
  });
  return items.map(namer);
}

test('names the events of a repeated request alike', () => {
  expect(name([click, { ...click, event: 'tap' }])).toEqual(name([click, { ...click, event: 'tap' }]));
  expect(name([click])[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('keeps equal events of one request apart', () => {
  expect(new Set(name([click, click, click])).size).toBe(3);
});

test.each<[string, readonly JsonObject[], { projectUuid?: string; sentAtMs?: number }]>([
  ['another project', [click], { projectUuid: 'other' }],
  ['another time of sending', [click], { sentAtMs: 1 }],
  ['another timestamp', [{ ...click, timestamp: '2024-01-01T00:00:00.001Z' }], {}],
  ['another property', [{ ...click, properties: { a: 1 } }], {}],
  ['a digit beyond those of a double', [{ ...click, n: new ExactNumber('0.12345678901234567891') }], {}],
  ['one event more', [click, click], {}],
])('tells a request from one with %s', (_name, items, context) => {
  expect(name(items, context)).not.toContain(name([click])[0]);
});

test.each([
  { ...click, timestamp: undefined },
  { ...click, timestamp: 'soon' },
  { ...click, offset: 5 },
])('cannot name an event that does not say when it happened: %o', (item) => {
  expect(name([item])).toEqual(['random']);
});

test('takes an offset of 0 for none', () => {
  expect(name([{ ...click, offset: 0 }])).not.toEqual(['random']);
});
