import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePayload } from '../../../../src/server/capture/request/parse.ts';
import { parseBatch, parseSingle } from '../../../../src/server/capture/request/parse-batch.ts';

const parse = (text: string) => parseBatch(Buffer.from(text));
const batch = (...items: string[]) =>
  `{"api_key":"k","historical_migration":true,"batch":[${items.join(',')}]}`;
const item = (properties: string) => `{"event":"e","uuid":"u","properties":${properties}}`;

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
    expect(parse(text)?.value).toEqual(parsePayload(text).value);
  });

  test('keeps texts that say what was read', () => {
    const { value, propertiesTexts = [] } = parse(text) ?? { value: {} };
    const items = (value as { batch: { properties: unknown }[] }).batch;
    for (const [at, kept] of propertiesTexts.entries()) {
      if (kept === undefined) continue;
      expect(parsePayload(Buffer.from(kept).toString()).value).toEqual(items[at]?.properties);
    }
  });
});

test.each([
  ['{"batch":{}}'],
  ['{"batch":[1]}'],
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
  [`{"batch":[{"${'k'.repeat(1001)}":1}]}`],
  [`{"batch":[{"a":1e1001}]}`],
  [`{"batch":[{"a":${'['.repeat(70)}${']'.repeat(70)}}]}`],
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
    expect(value).toEqual(parsePayload(text).value);
    const [kept] = propertiesTexts ?? [];
    if (kept === undefined) return;
    const { properties } = value as { properties: unknown };
    expect(parsePayload(Buffer.from(kept).toString()).value).toEqual(properties);
  });
});

test.each([['{"batch":[]}'], ['[{"event":"e"}]'], ['{"event":"e"}{}'], ['{"event":"e"'], [' ']])(
  'takes %s for no single event',
  (text) => {
    expect(parseSingle(Buffer.from(text))).toBeUndefined();
  },
);

test('reads whatever batches there are as their whole text is read', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('"properties":{', '},{', '"batch":[', '\\', '\u{1F600}', 1e21, 0.1, -0),
  );
  const event = fc.oneof(
    fc.record(
      { event: value, properties: fc.dictionary(fc.string(), value), timestamp: value },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.string(), value),
  );
  fc.assert(
    fc.property(fc.array(event), fc.constantFrom(0, 1), (items, indent) => {
      const text = JSON.stringify({ api_key: 'k', batch: items }, null, indent);
      const fast = parse(text);
      if (fast !== undefined) expect(fast.value).toEqual(parsePayload(text).value);
    }),
  );
});
