import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMES_LATER, FILLS, REPLACES } from '../../src/identity/property-decision.ts';
import { createGroupEvent, createPersonEvent } from '../../src/identity/synthetic-events.ts';
import { createEventId } from '../../src/sources/mapping/event-id.ts';
import { PropertyRows } from '../../src/state/facts/property-rows.ts';

interface FieldProperty {
  readonly field: '$set' | '$set_once';
  readonly key: string;
  readonly text: string;
  readonly laterMs: number | undefined;
}

const TIME = '2023-01-01T00:00:00.000Z';
const text = fc.oneof(
  fc.string({ unit: 'grapheme-ascii' }),
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 5_000, maxLength: 6_000 }),
);
const properties: fc.Arbitrary<FieldProperty[]> = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom('$set' as const, '$set_once' as const),
    key: text,
    text: fc.jsonValue().map((value) => JSON.stringify(value)),
    laterMs: fc.option(fc.nat(), { nil: undefined }),
  }),
  { selector: ({ key }) => key },
);
const byField = (a: FieldProperty, b: FieldProperty) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0);

function toPack(all: readonly FieldProperty[]) {
  const rows = new PropertyRows();
  rows.begin();
  for (const [row, { field, key, text: value, laterMs }] of all.entries()) {
    rows.add(key, laterMs === undefined ? TIME : new Date(laterMs).toISOString(), value);
    rows.marks[row] = (field === '$set' ? REPLACES : FILLS) | (laterMs === undefined ? 0 : COMES_LATER);
    rows.order[row] = row;
  }
  const bytes = all.reduce(
    (sum, { key, text: value }) => sum + Buffer.byteLength(`${JSON.stringify(key)}:${value},`),
    0,
  );
  return { rows, start: 0, stop: all.length, bytes };
}

/** What uuids were made of when the first events were sent. */
const toContent = (all: readonly FieldProperty[]) =>
  JSON.stringify(
    all.map(({ field, key, text: value, laterMs }) => [
      field,
      key,
      value,
      ...(laterMs === undefined ? [] : [laterMs]),
    ]),
  );

const toFields = (all: readonly FieldProperty[]) => {
  const fields: Record<string, Record<string, unknown>> = {};
  for (const { field, key, text: value } of all) {
    fields[field] ??= Object.create(null) as Record<string, unknown>;
    Object.defineProperty(fields[field], key, { value: JSON.parse(value), enumerable: true });
  }
  return JSON.parse(JSON.stringify(fields)) as object;
};

test('the uuid of an event about a person is that of its content, which is all it says', () => {
  fc.assert(
    fc.property(text, properties, (id, unsorted) => {
      const all = [...unsorted].sort(byField);
      const event = createPersonEvent(id, TIME, toPack(all));
      expect(event.uuid).toBe(createEventId(['people', 'person', id, toContent(all)]));
      expect(JSON.parse(Buffer.from(event.text).toString())).toEqual({
        event: '$identify',
        uuid: event.uuid,
        timestamp: TIME,
        properties: { distinct_id: id, ...toFields(all), $geoip_disable: true },
      });
    }),
  );
});

test('the uuid of an event about a group is that of its content, which may be nothing', () => {
  fc.assert(
    fc.property(text, text, properties, (type, key, unsorted) => {
      const all = [...unsorted].sort(byField);
      const event = createGroupEvent('$groupidentify', type, key, TIME, toPack(all));
      expect(event.uuid).toBe(
        createEventId(['people', 'group', '$groupidentify', type, key, toContent(all)]),
      );
      expect(JSON.parse(Buffer.from(event.text).toString()).properties).toMatchObject(toFields(all));
    }),
  );
});
