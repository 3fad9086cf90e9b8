import { Hono } from 'hono';
import { describe, expect, it, test } from 'vitest';
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { parseEvents, parsePayload } from '../../../src/server/capture/request/parse.ts';
import { respondWithJson, respondWithLargeJson } from '../../../src/server/http/response.ts';
import { parseSafely } from '../../../src/server/http/safe-json.ts';
import { createRecordParser } from '../../../src/sources/formats/parse-record.ts';

/** A number as it is written in a text, and as importer and server write it again. */
const TABLE: readonly (readonly [why: string, written: string, kept: string])[] = [
  ['a small integer', '42', '42'],
  ['the largest integer that is safe', '9007199254740991', '9007199254740991'],
  ['the first integer that a double skips', '9007199254740993', '9007199254740993'],
  ['one beside it that a double holds', '9007199254740994', '9007199254740994'],
  ['an id of 19 digits', '1234567890123456789', '1234567890123456789'],
  ['the least of 64 bits', '-9223372036854775808', '-9223372036854775808'],
  ['30 digits', '123456789012345678901234567890', '123456789012345678901234567890'],
  ['an integer that JavaScript writes with an exponent', '1000000000000000000000', '1000000000000000000000'],
  ['the same beyond 64 bits', '-18446744073709552000000', '-18446744073709552000000'],
  ['an integer of 400 digits', '7'.repeat(400), '7'.repeat(400)],
  ['a fraction', '2.5', '2.5'],
  ['the digits of 0.1 + 0.2', '0.30000000000000004', '0.30000000000000004'],
  ['a long fraction', '0.12345678901234567890', '0.12345678901234567890'],
  ['a long fraction behind digits', '12345678.123456789012', '12345678.123456789012'],
  [
    'the true value of a double',
    '0.1000000000000000055511151231257827',
    '0.1000000000000000055511151231257827',
  ],
  ['a long fraction that is small', '-0.10000000000000000001', '-0.10000000000000000001'],
  ['a zero behind a fraction', '1.10', '1.1'],
  ['a fraction of zeros', '1.0', '1'],
  ['a long fraction of zeros', '1.0000000000000000', '1'],
  ['zeros behind a coordinate', '37.774900000000000000', '37.7749'],
  ['zero', '0', '0'],
  ['negative zero', '-0', '0'],
  ['negative zero with a fraction', '-0.0', '0'],
  ['zero with an exponent', '0e999', '0'],
  ['a long zero', '0.00000000000000000000', '0'],
  ['a small exponent', '1E5', '100000'],
  ['a mantissa with a zero', '1.50e2', '150'],
  ['an exponent that a double keeps', '1e21', '1e+21'],
  ['one of Python', '1e-07', '1e-7'],
  ['a small fraction', '0.0000001', '1e-7'],
  ['a small fraction spelled out', '0.00000000000000000001', '0.00000000000000000001'],
  ['the longest one not kept so', '0.0000000000001', '1e-13'],
  ['the same with a sign', '-0.0000000000001', '-1e-13'],
  ['the shortest one kept so', '0.00000000000001', '0.00000000000001'],
  ['the largest double', '1.7976931348623157e308', '1.7976931348623157e+308'],
  ['beyond the largest double', '1.7976931348623159e308', '1.7976931348623159e308'],
  ['the smallest double', '5e-324', '5e-324'],
  ['half the smallest double', '2.5e-324', '2.5e-324'],
  ['a double of few digits', '4.94e-322', '4.94e-322'],
  ['digits that small doubles do not have', '1.23456789e-320', '1.23456789e-320'],
  ['1e400', '1e400', '1e400'],
  ['1e500', '1e500', '1e500'],
  ['1E-400', '1E-400', '1E-400'],
  ['a signed exponent', '-1.5E+400', '-1.5E+400'],
  ['a long mantissa with an exponent', '1.2345678901234567890e5', '1.2345678901234567890e5'],
];

const parseRecord = createRecordParser({ kind: 'json' }, undefined);

/** What the importer sends of a record. */
function importText(text: string): string {
  const parsed = parseRecord({ kind: 'record', member: undefined, line: 1, bytes: Buffer.from(text) });
  if (parsed.kind === 'rejected') throw new Error(parsed.detail);
  return stringifyJson(parsed.value);
}

/** What the server stores of an event's properties. */
function storeText(properties: string): string | undefined {
  const payload = parsePayload(`{"event":"e","distinct_id":"d","properties":${properties}}`);
  const { events } = parseEvents(payload, {
    nowMs: 0,
    sentAt: undefined,
    defaultEvent: undefined,
    ip: undefined,
    projectUuid: 'project',
    createUuid: () => 'uuid',
  });
  return events[0] && Buffer.from(events[0].propertiesText).toString();
}

/** What the server answers with after it has read the text, at once and in pieces. */
async function answerTexts(text: string): Promise<string[]> {
  const app = new Hono();
  app.get('/', (c) => respondWithJson(c, parseSafely(text)));
  app.get('/large', (c) => respondWithLargeJson(c, parseSafely(text)));
  return Promise.all(['/', '/large'].map(async (path) => (await app.request(path)).text()));
}

describe.each(TABLE)('%s (%s)', (_why, written, kept) => {
  it.each([
    ['alone', (number: string) => `{"n":${number}}`],
    ['in a list', (number: string) => `{"a":{"b":[${number}]},"s":"x"}`],
    ['beside a long number', (number: string) => `{"id":12345678901234567890,"n":${number}}`],
  ])('is the same to importer and server, %s', async (_place, toText) => {
    const expected = toText(kept);
    expect(importText(toText(written))).toBe(expected);
    expect(storeText(toText(written))).toBe(expected);
    expect(await answerTexts(toText(written))).toEqual([expected, expected]);
    // What was kept stays as it is.
    expect(importText(expected)).toBe(expected);
  });
});

test.each([
  ['1000000000000000000000', '1e+21'],
  ['1e21', '1e+21'],
  ['0.00000000000000000001', '1e-20'],
  ['1234567890123456789', '1234567890123456789'],
  ['1e400', '1e400'],
])('%s has one canonical text, however it is spelled', (written, canonical) => {
  expect(canonicalJson(parseJson(written))).toBe(canonical);
});
