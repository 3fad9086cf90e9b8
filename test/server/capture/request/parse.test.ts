import { expect, test } from 'vitest';
import { MAX_EVENT_CHARACTERS, MAX_EVENTS } from '../../../../src/server/capture/limits.ts';
import { parseEvents, parsePayload } from '../../../../src/server/capture/request/parse.ts';

const parse = (text: string, sentAt?: string) => {
  const value = parsePayload(text);
  let made = 0;
  return parseEvents(value, {
    nowMs: Date.parse('2024-06-01T12:00:00Z'),
    sentAt,
    defaultEvent: undefined,
    ip: undefined,
    projectUuid: 'project',
    createUuid: () => `made-${++made}`,
  });
};
const batch = (...items: object[]) => JSON.stringify({ batch: items });
const click = { event: 'click', distinct_id: 'a' };

test('takes 50,000 events, and refuses one more as too large', () => {
  const events = (count: number) =>
    `[${'{"event":"e","distinct_id":"d"},'.repeat(count - 1)}${JSON.stringify(click)}]`;
  expect(parse(events(MAX_EVENTS)).events).toHaveLength(MAX_EVENTS);
  expect(() => parse(events(MAX_EVENTS + 1))).toThrow(expect.objectContaining({ status: 413 }));
});

test('takes an event of 1 MiB, as Postgres writes it, and refuses a larger one', () => {
  const event = (length: number) =>
    batch({ ...click, properties: { a: 'x'.repeat(length - '{"a":""}'.length) } });
  expect(parse(event(MAX_EVENT_CHARACTERS)).events).toHaveLength(1);
  expect(() => parse(event(MAX_EVENT_CHARACTERS + 1))).toThrow(/larger than/);
  const numbers = (count: number) =>
    `{"event":"e","distinct_id":"d","properties":{"a":[${Array(count).fill('1e400').join(',')}]}}`;
  expect(parse(numbers(2000)).events).toHaveLength(1);
  expect(() => parse(numbers(2700))).toThrow(/larger than/);
});

test.each([['{"a":1}'], ['{}'], ['{ }'], ['{"a":1.10}'], ['{"$ip":"::1"}'], ['{"token":"k","a":1}']])(
  'stores for properties %s what they are, and the address of the sender',
  (properties) => {
    const single = Buffer.from(`{"event":"e","distinct_id":"d","properties":${properties}}`);
    const { events } = parseEvents(parsePayload(single), {
      nowMs: 0,
      sentAt: '2024-06-01T12:00:00Z',
      defaultEvent: undefined,
      ip: '192.0.2.1',
      projectUuid: 'project',
      createUuid: () => 'made',
    });
    const { token: _key, ...rest } = JSON.parse(properties);
    const stored = { $ip: '192.0.2.1', ...rest, $sent_at: '2024-06-01T12:00:00.000Z' };
    expect(stored).toMatchObject({ $sent_at: stored.$sent_at, ...events[0]?.properties });
    expect(events[0]?.properties).toHaveProperty('$ip', stored.$ip);
    expect(JSON.parse(Buffer.from(events[0]?.propertiesText ?? []).toString())).toEqual(stored);
  },
);

test.each(['', '{"batch":['])('stores null for NaN beside an escape, behind %j', (before) => {
  const event = '{"event":"e","distinct_id":"d","properties":{"a":NaN,"b":"\\u00e4"}}';
  const { events } = parseEvents(parsePayload(Buffer.from(`${before}${event}${before && ']}'}`)), {
    nowMs: 0,
    sentAt: undefined,
    defaultEvent: undefined,
    ip: undefined,
    projectUuid: 'project',
    createUuid: () => 'made',
  });
  expect(Buffer.from(events[0]?.propertiesText ?? []).toString()).toBe('{"a":null,"b":"ä"}');
});

test('drops performance traces, repeats of a row, and nothing else', () => {
  const uuid = '0197f0aa-0000-7000-8000-000000000001';
  const { events } = parse(
    batch(
      { ...click, uuid },
      { ...click, event: '$performance_event' },
      { ...click, uuid },
      { ...click, uuid, event: 'other' },
      click,
      click,
    ),
  );
  expect(events.map(({ event, uuid: id }) => [event, id])).toEqual([
    ['click', uuid],
    ['other', uuid],
    ['click', 'made-2'],
    ['click', 'made-3'],
  ]);
});

test.each([
  ['0197F0AA-0000-7000-8000-000000000001'],
  ['0197f0aa000070008000000000000001'],
  ['{0197f0aa-0000-7000-8000-000000000001}'],
  ['urn:uuid:0197f0aa-0000-7000-8000-000000000001'],
])('reads the uuid %s', (uuid) => {
  expect(parse(batch({ ...click, uuid })).events[0]?.uuid).toBe('0197f0aa-0000-7000-8000-000000000001');
});

test.each([
  '0197f0aa-0000-7000-8000-00000000000',
  '0197f0aa-0000-7000-8000-0000000000011',
  'g197f0aa-0000-7000-8000-000000000001',
  '0197f0aa 0000 7000 8000 000000000001',
  7,
  ['0197f0aa-0000-7000-8000-000000000001'],
  true,
])('refuses the uuid %j', (uuid) => {
  expect(() => parse(batch({ ...click, uuid }))).toThrow(/"uuid" is not a valid UUID/);
});

test.each([[undefined], [null], ['']])('makes a uuid where %j stands for none', (uuid) => {
  expect(parse(batch({ ...click, uuid })).events[0]?.uuid).toBe('made-1');
});

test('counts what it could not make sense of', () => {
  const { warnings } = parse(
    batch(
      { ...click, timestamp: 'soon' },
      { ...click, timestamp: '2999-01-01' },
      { ...click, timestamp: {} },
    ),
  );
  expect(warnings).toEqual({ ignored_invalid_timestamp: 2, event_timestamp_in_future: 1 });
});

test.each([
  ['1717239600', 1_717_239_600_000],
  ['99999999999', 99_999_999_999_000], // eleven digits are seconds still
  ['100000000000', 100_000_000_000], // twelve are not
  ['2024-06-01T11:00:00Z', 1_717_239_600_000],
])('reads %s as the time of sending, and takes the clock from there', (sentAt, sentAtMs) => {
  const hourBefore = new Date(sentAtMs - 3_600_000).toISOString();
  const { events, warnings } = parse(batch({ ...click, timestamp: hourBefore }), sentAt);
  expect(events[0]?.timestamp).toBe('2024-06-01T11:00:00.000Z');
  expect(warnings).toEqual({});
});

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('takes 100 levels and refuses one more', () => {
  expect(() => parsePayload(nested(100))).not.toThrow();
  expect(() => parsePayload(nested(101))).toThrow(/nested more than 100/);
});

test('refuses a hundred thousand levels on both paths without falling over', () => {
  expect(() => parsePayload(nested(100_000))).toThrow(/nested/);
  expect(() => parsePayload(`[12345678901234567890,${nested(100_000)}]`)).toThrow(/nested/);
});

test.each(['{"nul\\u0000":1}', '"a\\u0000b"', '{"half":"\\ud83d!"}', '["\\udc00"]', '["\ud83d"]'])(
  'refuses %s, which Postgres cannot store',
  (text) => {
    expect(() => parsePayload(text)).toThrow(/text with a NUL character or half a surrogate pair/);
  },
);

test('takes what only looks like it', () => {
  const text = String.raw`{"pair":"\ud83d\ude00","text":"\\u0000","emoji":"😀"}`;
  expect(parsePayload(text).value).toEqual({ pair: '😀', text: '\\u0000', emoji: '😀' });
});

test('takes keys of 1,000 characters and refuses longer ones, at any depth', () => {
  expect(() => parsePayload(`[{"a":{"${'k'.repeat(1000)}":1}}]`)).not.toThrow();
  expect(() => parsePayload(`[{"a":{"${'k'.repeat(1001)}":1}}]`)).toThrow(
    /a key of more than 1000 characters \(k{40}…\)/,
  );
});

test('reads the NaN and Infinity of Python as null, but not inside strings', () => {
  expect(parsePayload('{"a":NaN,"b":[-Infinity,"NaN, \\"Infinity"]}').value).toEqual({
    a: null,
    b: [null, 'NaN, "Infinity'],
  });
});

test('keeps a property called __proto__ a property', () => {
  const { value } = parsePayload(String.raw`{"__proto__":{"polluted":true},"x":"\ud83d\ude00"}`);
  expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.each(['', '{', 'nonsense', '{"a":1}x', '{"a":1e1001}'])('refuses %j with the reason', (text) => {
  expect(() => parsePayload(text)).toThrow(/Malformed request data: Invalid JSON: ./);
});
