import { expect, it } from 'vitest';
import { compareFields, listTopLevelFates } from '../../../src/migrations/plan/compare-fields.ts';
import { bindSource, getSourceType } from '../../../src/sources/registry.ts';

const bindSegment = (options: object) =>
  bindSource(getSourceType('segment').block.parse({ type: 'segment', from: 'x', ...options }));

const toFates = (options: object = {}) => {
  const listFates = bindSegment(options).listFieldFates;
  if (!listFates) throw new Error('this source lists what becomes of its fields');
  return listFates;
};

const context = { page: { url: 'https://a.example/', tab_url: 'x' }, traits: { plan: 'gold' }, tenant: 't' };
const track = {
  type: 'track',
  event: 'Opened',
  properties: { a: 1, nothing: null },
  context,
  integrations: { All: true, Other: { id: 1 } },
  writeKey: 'k',
};

it('counts fields of calls at every depth as mapped, kept or dropped', () => {
  const fields = compareFields([{ fields: track }, { fields: { ...track, writeKey: null } }], toFates());
  expect(fields.mapped).toEqual(['context.page.url', 'event', 'type']);
  expect(fields.kept).toEqual(
    ['context.page.tab_url', 'context.tenant', 'context.traits.plan', 'properties.a'].map((field) => ({
      field,
      inSample: 2,
    })),
  );
  expect(fields.unmapped).toEqual([
    { field: 'integrations.All', inSample: 2 },
    { field: 'integrations.Other.id', inSample: 2 },
    { field: 'writeKey', inSample: 1 },
  ]);
});

it('counts what the manifest leaves behind as dropped', () => {
  const { unmapped } = compareFields([{ fields: track }], toFates({ contextFields: 'drop' }));
  expect(unmapped.map(({ field }) => field)).toContain('context.tenant');
});

it.each([
  ['identify', { mapped: ['type'], kept: ['context.traits.plan', 'traits.b'] }],
  ['group', { mapped: ['type'], kept: ['traits.b'] }],
  ['alias', { mapped: ['type'], kept: [] }],
])('knows what a %s call makes use of', (type, expected) => {
  const fields = compareFields([{ fields: { type, context, traits: { b: 1 } } }], toFates());
  expect(fields.mapped).toEqual(expected.mapped);
  expect((fields.kept ?? []).map(({ field }) => field)).toEqual(expected.kept);
});

it('counts a field by the best that it meets', () => {
  const calls = [
    { type: 'identify', context },
    { type: 'track', context },
  ];
  const fields = compareFields(
    calls.map((call) => ({ fields: call })),
    toFates(),
  );
  expect(fields.mapped).toContain('context.page.url');
  expect(fields.unmapped).toEqual([]);
});

it('tells top-level fields only of a source that says no more', () => {
  expect(compareFields([{ fields: { a: 1, b: { c: 2 } } }], listTopLevelFates(new Set(['a'])))).toEqual({
    mapped: ['a'],
    unmapped: [{ field: 'b', inSample: 1 }],
  });
});
