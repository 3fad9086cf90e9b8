import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { READ_PROPERTIES } from '../../../../src/server/capture/read-properties.ts';
import { READ_FIELDS } from '../../../../src/server/capture/request/item-reader.ts';
import { parseBody, parseEvents, parsePayload } from '../../../../src/server/capture/request/parse.ts';
import { parseBatch, parseSingle } from '../../../../src/server/capture/request/parse-batch.ts';
import { isJsonObject, type JsonObject } from '../../../../src/server/http/json.ts';

const parse = (text: string) => parseBatch(Buffer.from(text));
const batch = (...items: string[]) =>
  `{"api_key":"k","historical_migration":true,"batch":[${items.join(',')}]}`;
const item = (properties: string) => `{"event":"e","uuid":"u","properties":${properties}}`;

const pick = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]));

/** What ingestion reads of an item. */
function pickRead(item: unknown): unknown {
  if (!isJsonObject(item)) return item;
  const { properties } = item;
  const picked = pick(item, READ_FIELDS);
  if (properties === undefined) return picked;
  return {
    ...picked,
    properties: isJsonObject(properties) ? pick(properties, READ_PROPERTIES) : properties,
  };
}

/** The same of a request. */
const pickAll = (value: unknown): unknown =>
  isJsonObject(value) && Array.isArray(value['batch'])
    ? { ...value, batch: value['batch'].map(pickRead) }
    : pickRead(value);

/** Properties of the items, as the whole text has them. */
const listProperties = (text: string): unknown[] => {
  const { batch } = parseBody(text) as { batch: { properties: unknown }[] };
  return batch.map(({ properties }) => properties);
};

/** Texts of properties that are kept as they were sent; undefined for those that are written again. */
const keptTexts = (text: string) =>
  parse(text)?.propertiesTexts?.map((kept) => kept && Buffer.from(kept).toString());

describe.each([
  ['an event of every day', batch(item('{"a":1,"b":[true,null,{"c":"d"}]}'))],
  ['no events', batch()],
  ['letters beyond ASCII', batch(item('{"å":"日本 😀"}'), item('{"plain":"a"}'))],
  ['white space between its parts', '{ "batch":[ {"event" : "e"} , \n {"event":"f"} ] , "sent_at" : "now" }'],
  [
    'a long number, and digits within a string',
    batch(item('{"a":12345678901234567890}'), item('{"b":"x12345678901234567890"}')),
  ],
  [
    'braces, brackets and quotes within strings',
    batch(item('{"a":"},{\\"properties\\":{","b":"]}"}'), item('{"a":"\\\\"}')),
  ],
  ['an escape by its code', batch(item('{"a":"\\u00e9"}'))],
  ['properties in the middle', batch('{"event":"e","properties":{"a":1},"timestamp":"t"}')],
  ['properties within properties', batch(item('{"properties":{"a":1},"b":{"properties":{}}}'))],
  ['properties that come twice', batch('{"properties":{"a":1},"properties":{"b":2}}')],
  ['properties under a name with an escape', batch('{"properties":{"a":1},"propertie\\u0073":{"b":2}}')],
  ['properties that are no object', batch('{"properties":[1]}', '{"properties":null}')],
  ['an own __proto__', batch(item('{"__proto__":{"a":1}}'))],
])('a batch with %s', (_what, text) => {
  test('is read as its whole text is', () => {
    expect(parse(text)).toBeDefined();
    expect(pickAll(parse(text)?.value)).toEqual(pickAll(parseBody(text)));
  });

  test('keeps texts that say all of the properties', () => {
    const all = listProperties(text);
    for (const [at, kept] of (parse(text)?.propertiesTexts ?? []).entries()) {
      if (kept !== undefined) expect(parseBody(Buffer.from(kept))).toEqual(all[at]);
    }
  });
});

test.each([
  ['{"batch":{}}'],
  ['{"batch":[1,]}'],
  ['{"batch":[{"a":1},]}'],
  ['{"batch":[{"a":1} {"a":2}]}'],
  ['{"batch":[{"a":1}'],
  ['{"batch":[{"a":01}]}'],
  ['{"batch":[{"a":NaN}]}'],
  ['{"batch":[{"properties":{"a":NaN,"b":"\\u00e4"}}]}'],
  ['{"batch":[{"properties":{"a":-Infinity,"b":12345678901234567890}}]}'],
  ['{"batch":[{"a":1}],"batch":[{"a":2}]}'],
  ['{"batch":[{"a":1}],"b\\u0061tch":0}'],
  ['{"batch":0,"x":{"batch":[{"a":1}]}}'],
  ['["batch":[{"a":1}]]'],
  [`{"batch":[{"a":"\\ud800"}]}`],
  [`{"batch":[{"properties":{"a":"\\u0000"}}]}`],
  [`{"batch":[{"${'k'.repeat(1001)}":1}]}`],
  [`{"batch":[{"a":1e1001}]}`],
  [`{"batch":[{"a":${'['.repeat(98)}${']'.repeat(98)}}]}`],
])('leaves %.60s to the parser of whole texts', (text) => {
  expect(parse(text)).toBeUndefined();
});

test('keeps the text of properties, and writes again only what JavaScript spells in another way', () => {
  const kept = [
    '{"a":0.5}',
    '{ "a" : 10, "b":"1.10" }',
    '{"a":12345678901234567890}',
    '{"a":"1e5"}',
    '{"a":[-1,0]}',
  ];
  expect(keptTexts(batch(...kept.map(item)))).toEqual(kept);
  const written = ['{"a":1.0}', '{"a":1.10}', '{"a":[1E5]}', '{"a":1e-5}', '{"a":-0.0}'];
  expect(keptTexts(batch(...written.map(item)))).toEqual(written.map(() => undefined));
});

describe.each([
  ['an event', item('{"a":1,"b":[true,null,{"c":"d"}]}')],
  ['white space around it', ` \n${item('{ "a" : 1 }')}\n`],
  ['no properties', '{"event":"e"}'],
  ['a long number', item('{"a":12345678901234567890}')],
  ['properties that come twice', '{"properties":{"a":1},"properties":{"b":2}}'],
])('a single event: %s', (_what, text) => {
  test('is read as its whole text is', () => {
    const { value, propertiesTexts } = parseSingle(Buffer.from(text)) ?? {};
    expect(pickRead(value)).toEqual(pickRead(parseBody(text)));
    const [kept] = propertiesTexts ?? [];
    if (kept === undefined) return;
    const { properties } = parseBody(text) as { properties: unknown };
    expect(parseBody(Buffer.from(kept))).toEqual(properties);
  });
});

test.each([['{"batch":[]}'], ['[{"event":"e"}]'], ['{"event":"e"}{}'], ['{"event":"e"'], [' ']])(
  'takes %s for no single event',
  (text) => {
    expect(parseSingle(Buffer.from(text))).toBeUndefined();
  },
);

const UUID = '0192f5a0-0000-4000-8000-000000000001';

test.each(['{"a":"\\u0000"}', '{"\\u0000":1}', '{"x":{"v\\ud800":1}}'])(
  'leaves %s to the parser of whole texts however often it comes',
  (properties) => {
    for (let time = 1; time <= 3; time += 1) {
      expect(parse(batch(item(properties)))).toBeUndefined();
      expect(parse(batch(`{"event":"e","uuid":"u","more":${properties},"properties":{}}`))).toBeUndefined();
      expect(parseSingle(Buffer.from(item(properties)))).toBeUndefined();
    }
  },
);

test.each([
  ['in one value', [item(`{"$set":{"a":[${'{},'.repeat(2_000_000)}{}]}}`)]],
  ['in many values', Array<string>(2000).fill(item(`{"$set":{"a":[${'[],'.repeat(1000)}[]]}}`))],
  ['beside an exponent', Array<string>(3).fill(item(`{"n":1e5,"a":[${'{},'.repeat(500_000)}{}]}`))],
])('makes no values of more objects and lists than a request may have: %s', (_where, items) => {
  const parsed = vi.spyOn(JSON, 'parse');
  try {
    expect(parse(batch(...items))).toBeUndefined();
    const characters = parsed.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    expect(characters).toBeLessThan(1_000_000);
  } finally {
    parsed.mockRestore();
  }
});

test('makes no values of what is only stored', () => {
  const sent = `{"event":"e","uuid":"${UUID}","more":1,"properties":{"a":[{"b":2}],"$os":"Linux","alias":"x"}}`;
  const value = { event: 'e', uuid: UUID, properties: { $os: 'Linux', alias: 'x' } };
  expect(parse(batch(sent))?.value).toMatchObject({ batch: [value] });
  expect(parseSingle(Buffer.from(sent))?.value).toEqual(value);
});

test('names an event without a uuid after all that the request says', () => {
  const context = {
    nowMs: 0,
    sentAt: undefined,
    defaultEvent: undefined,
    ip: undefined,
    projectUuid: 'project',
    createUuid: () => 'made',
  };
  const unnamed = '{"event":"e","distinct_id":"a","timestamp":"2024-05-01T00:00:00Z","properties":{"a":1}}';
  for (const text of [unnamed, batch(unnamed), batch(unnamed, unnamed.replace('"a":1', '"a":2'))]) {
    const name = (from: Buffer | string) =>
      parseEvents(parsePayload(from), context).events.map(({ uuid }) => uuid);
    expect(name(Buffer.from(text))).toEqual(name(text));
    expect(name(Buffer.from(text))).not.toEqual(name(Buffer.from(text.replace('"a":1', '"a":3'))));
  }
});

const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('"properties":{', '},{', '"batch":[', '\\', '\u{1F600}', '\u00e9', 1e21, 1e-7, 0.1, -0),
);
const property = fc.oneof(fc.string(), fc.constantFrom(...READ_PROPERTIES, 'a', 'b', '__proto__', '7'));
const properties = fc.dictionary(property, value);

test('reads whatever batches there are as their whole text is read', () => {
  const event = fc.oneof(
    fc.record({ event: value, uuid: value, properties, timestamp: value }, { requiredKeys: [] }),
    fc.dictionary(fc.string(), value),
  );
  fc.assert(
    fc.property(fc.array(event), fc.constantFrom(0, 1), (items, indent) => {
      const text = JSON.stringify({ api_key: 'k', batch: items }, null, indent);
      const fast = parse(text);
      if (fast !== undefined) expect(pickAll(fast.value)).toEqual(pickAll(parseBody(text)));
    }),
  );
});

test('makes the events of any request that its whole text makes', () => {
  const id = fc.oneof(fc.constantFrom('a', 'ä', 7, '', null), fc.string());
  const event = fc.record(
    {
      event: fc.oneof(fc.constantFrom('e', '$set', '$identify'), value),
      uuid: fc.oneof({ weight: 9, arbitrary: fc.uuid() }, fc.constantFrom('', null)),
      distinct_id: id,
      $distinct_id: id,
      timestamp: fc.constantFrom('2024-05-01T00:00:00Z', '1714521600000'),
      $set: properties,
      $set_once: properties,
      properties,
    },
    { requiredKeys: ['event', 'uuid', 'distinct_id'] },
  );
  const context = {
    nowMs: 0,
    sentAt: '2024-06-01T12:00:00Z',
    defaultEvent: undefined,
    projectUuid: 'project',
    createUuid: () => 'made',
  };
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 4 }),
      fc.constantFrom(undefined, '192.0.2.1'),
      fc.boolean(),
      (items, ip, isSingle) => {
        const text = JSON.stringify(isSingle ? (items[0] ?? {}) : { batch: items });
        const read = (from: Buffer | string) => {
          try {
            const { events, warnings } = parseEvents(parsePayload(from), { ...context, ip });
            const stored = events.map((one) => ({
              ...one,
              properties: pick(one.properties, READ_PROPERTIES),
              propertiesText: parseBody(Buffer.from(one.propertiesText)),
            }));
            return { stored, warnings };
          } catch (error) {
            return String(error);
          }
        };
        expect(read(Buffer.from(text))).toEqual(read(text));
      },
    ),
  );
});
