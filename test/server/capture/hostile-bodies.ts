import { gzipSync } from 'node:zlib';
import { lzBomb } from '../../support/lz-bomb.ts';

/**
 * What strangers may send, over a real connection. Each is refused with the status that says whose fault
 * it is, or stored just as it came; never a 5xx, and the next request is answered.
 */
export const MB = 1_000_000;
const DEEP = 1_000_000;

export interface Sent {
  readonly body: string | Buffer;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** Properties as text, from the envelope of one event. */
export const event = (key: string, id: string, properties: string, more = '') =>
  `{"api_key":"${key}","event":"e","distinct_id":"${id}","properties":${properties}${more}}`;
export const json = (body: string | Buffer): Sent => ({ body });
export const chinese = (length: number) =>
  Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919) % 20_000))).join('');

export const refused: [string, number, (key: string) => Sent][] = [
  ['a million lists in each other', 400, () => json('['.repeat(DEEP) + ']'.repeat(DEEP))],
  ['a million objects in each other', 413, () => json(`${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`)],
  ['deep lists beside a long number', 400, () => json(`[12345678901234567890,${'['.repeat(DEEP)}`)],
  [
    'properties 101 levels deep',
    400,
    (key) => json(event(key, 'x', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)),
  ],
  ['a key of 1,001 characters', 400, (key) => json(event(key, 'x', `{"${'k'.repeat(1001)}":1}`))],
  ['a NUL in a value', 400, (key) => json(event(key, 'x', String.raw`{"a":"\u0000"}`))],
  ['a NUL in a key', 400, (key) => json(event(key, 'x', String.raw`{"a\u0000":1}`))],
  ['a NUL in an id', 400, (key) => json(event(key, String.raw`x\u0000`, '{}'))],
  ['half a surrogate pair', 400, (key) => json(event(key, 'x', String.raw`{"a":"\ud83d"}`))],
  ['the other half', 400, (key) => json(event(key, 'x', String.raw`{"a":["\ude00\ud83d"]}`))],
  ['a key of 10 MB', 400, (key) => json(event(key, 'x', `{"${'k'.repeat(10 * MB)}":1}`))],
  ['a property of 10 MB', 400, (key) => json(event(key, 'x', `{"a":"${'v'.repeat(10 * MB)}"}`))],
  [
    'a property of 10 MB beside a long number',
    400,
    (key) => json(event(key, 'x', `{"n":1e30,"a":"${'v'.repeat(10 * MB)}"}`)),
  ],
  ['a list of 10 MB', 400, (key) => json(event(key, 'x', `{"a":[${'1,'.repeat(5 * MB)}1]}`))],
  ['an exponent of 1,001', 400, (key) => json(event(key, 'x', '{"a":1e1001}'))],
  ['an exponent beyond any', 400, (key) => json(event(key, 'x', '{"a":1e99999999999}'))],
  [
    'many numbers that Postgres writes out',
    400,
    (key) => json(event(key, 'x', `{"a":[${'1e400,'.repeat(3000)}1]}`)),
  ],
  ['a number of 131,073 digits', 400, (key) => json(event(key, 'x', `{"a":${'1'.repeat(131_073)}}`))],
  ['a fraction of 16,384 digits', 400, (key) => json(event(key, 'x', `{"a":0.${'1'.repeat(16_384)}}`))],
  [
    '600,000 tiny events',
    413,
    (key) => json(`{"api_key":"${key}","batch":[${'{"event":"e","distinct_id":"d"},'.repeat(600_000)}{}]}`),
  ],
  ['three million empty objects', 413, () => json(`[${'{},'.repeat(3 * MB)}{}]`)],
  [
    'objects of 400,000 shapes',
    413,
    () => json(`[${Array.from({ length: 400_000 }, (_, n) => `{"${n.toString(36)}":1}`).join(',')}]`),
  ],
  ['ten million numbers', 413, () => json(`[${'1,'.repeat(10 * MB - 100)}1]`)],
  ['a million escaped quotes', 400, () => json(`NaN${'\\"'.repeat(MB)}`)],
  ['an envelope in the prototype', 401, (key) => json(`{"__proto__":${event(key, 'x', '{}')}}`)],
  ['a list for an event', 400, (key) => json(`{"api_key":"${key}","batch":[[]]}`)],
  ['an event that is null', 400, (key) => json(`{"api_key":"${key}","batch":[null]}`)],
  ['21 MB', 413, () => json(Buffer.alloc(21 * MB, 0x20))],
  ['gzip that unfolds to 100 MB', 413, () => json(gzipSync(Buffer.alloc(100 * MB, 0x20), { level: 1 }))],
  [
    'base64 in gzip that unfolds to 100 MB',
    413,
    () => json(gzipSync(Buffer.alloc(100 * MB).toString('base64'), { level: 1 })),
  ],
  [
    'gzip in base64 in gzip that unfolds to 100 MB',
    413,
    () => json(gzipSync(gzipSync(Buffer.alloc(100 * MB, 0x20), { level: 1 }).toString('base64'))),
  ],
  ['gzip in gzip in base64 in gzip', 400, () => json(gzipSync(gzipSync(gzipSync('{}')).toString('base64')))],
  ['lz64 that unfolds to 100 MB', 413, () => ({ query: '?compression=lz64', body: lzBomb(14_200) })],
  ['lz64 that is cut short', 400, () => ({ query: '?compression=lz64', body: lzBomb(100).slice(0, 90) })],
  ['gzip that is cut short', 400, (key) => json(gzipSync(event(key, 'x', '{}')).subarray(0, -9))],
  ['gzip with a wrong checksum', 400, (key) => json(spoil(gzipSync(event(key, 'x', '{}'))))],
  [
    'bytes that are not UTF-8',
    400,
    (key) =>
      json(
        Buffer.concat([
          Buffer.from(event(key, 'x', '{"a":"').slice(0, -1)),
          Buffer.from([0xc3, 0x28]),
          Buffer.from('"}}'),
        ]),
      ),
  ],
  ['UTF-16', 400, (key) => json(Buffer.from(`\uFEFF${event(key, 'x', '{}')}`, 'utf16le'))],
  ['a raw NUL', 400, (key) => json(event(key, 'x', '{"a":"\0"}'))],
  [
    'a multipart form without a boundary',
    400,
    () => ({ body: 'x', headers: { 'content-type': 'multipart/form-data' } }),
  ],
  ['JSON that calls itself gzip', 400, () => ({ body: 'no JSON', headers: { 'content-encoding': 'gzip' } })],
];

function spoil(bytes: Buffer): Buffer {
  const spoilt = Buffer.from(bytes);
  spoilt.writeUInt8(spoilt.readUInt8(spoilt.length - 6) ^ 0xff, spoilt.length - 6);
  return spoilt;
}

/** Sent, and what the row then holds; the id is that of the event. */
export const stored: [string, (key: string, id: string) => Sent, Record<string, unknown>][] = [
  [
    'properties 98 levels deep',
    (key, id) => json(event(key, id, `${'{"a":'.repeat(98)}1${'}'.repeat(98)}`)),
    {},
  ],
  [
    'a key of a thousand characters',
    (key, id) => json(event(key, id, `{"${'k'.repeat(1000)}":1}`)),
    { ['k'.repeat(1000)]: 1 },
  ],
  [
    'SQL in every field',
    (key, id) =>
      json(
        event(
          key,
          id,
          `{"'; drop table events; --":"'); delete from persons; --","$set":{"\\"'$1":"%s"}}`,
          `,"timestamp":"'; --","$set_once":{"' or 1=1":true}`,
        ),
      ),
    {
      "'; drop table events; --": "'); delete from persons; --",
      $set: { '"\'$1': '%s' },
      $set_once: { "' or 1=1": true },
    },
  ],
  [
    'a property called __proto__',
    (key, id) =>
      json(event(key, id, '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')),
    { ['__proto__']: { polluted: 1 }, constructor: { prototype: { polluted: 1 } } },
  ],
  [
    'a property called __proto__ beside a long number',
    (key, id) =>
      json(event(key, id, '{"__proto__":{"polluted":1},"n":12345678901234567890,"$set":{"__proto__":1}}')),
    { ['__proto__']: { polluted: 1 }, $set: JSON.parse('{"__proto__":1}') },
  ],
  [
    'keys that repeat, the last of each',
    (key, id) =>
      json(event(key, 'no', '{"a":1,"a":{"b":2},"a":[3]}', `,"distinct_id":"${id}","event":"last"`)),
    { a: [3] },
  ],
  [
    'keys that repeat beside a long number',
    (key, id) => json(event(key, 'no', '{"a":12345678901234567890,"a":{"b":2}}', `,"distinct_id":"${id}"`)),
    { a: { b: 2 } },
  ],
  [
    'properties of the wrong kinds',
    (key, id) =>
      json(
        event(
          key,
          id,
          '{"$set":[1],"$set_once":"x","$unset":5,"$groups":[1],"$ip":null,"token":{}}',
          ',"offset":[],"timestamp":{}',
        ),
      ),
    { $set: [1], $set_once: 'x', $unset: 5, $groups: [1] },
  ],
  [
    'a timestamp that is slow to read',
    (key, id) => json(event(key, id, '{}', `,"timestamp":"${':1'.repeat(5 * MB)}"`)),
    {},
  ],
  [
    'a group type of 1,000 characters',
    (key, id) => json(event(key, id, `{"$groups":{"${chinese(1000)}":"x"}}`)),
    {},
  ],
  [
    'a content type of something else',
    (key, id) => ({ body: event(key, id, '{"a":1}'), headers: { 'content-type': 'application/xml' } }),
    { a: 1 },
  ],
  [
    'an X-Forwarded-For of nonsense',
    (key, id) => ({
      body: event(key, id, '{}'),
      headers: { 'x-forwarded-for': "'; drop table events; --, 1.2.3.4" },
    }),
    { $ip: '127.0.0.1' },
  ],
];
