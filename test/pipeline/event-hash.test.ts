import { describe, expect, it } from 'vitest';
import type { TargetEvent } from '../../src/contract/event.ts';
import { parseJson } from '../../src/lib/json/parse-json.ts';
import { TextBuffer } from '../../src/lib/text-buffer.ts';
import { KEY_WORDS } from '../../src/pipeline/event-hash.ts';
import { EventWriter } from '../../src/pipeline/event-writer.ts';

const event = (properties: object = {}, more: Partial<TargetEvent> = {}): TargetEvent => ({
  event: 'Order Completed',
  uuid: '0c3e5a10-1111-4b6e-8f00-000000000020',
  timestamp: '2023-03-14T09:26:53.123Z',
  properties: { distinct_id: 'user-1', ...properties },
  ...more,
});

function hash(...events: TargetEvent[]): { key: string; content: string } {
  const writer = new EventWriter(new TextBuffer(16));
  writer.write(events, () => true);
  const { words } = writer;
  return { key: words.slice(0, KEY_WORDS).join(' '), content: words.slice(KEY_WORDS).join(' ') };
}

const contentOf = (value: unknown) => hash(event({ value })).content;

describe('the hash of an event', () => {
  it('is the one that stored fingerprints have', () => {
    expect(hash(event({ total: 12.5, items: ['a', { sku: 'b', paid: true }], note: null }))).toEqual({
      key: '969693610 1364525537 -375181788',
      content: '-1839888875 -2059328945',
    });
  });

  it('has a key of uuid, event name, distinct_id and UTC day alone', () => {
    const { key } = hash(event());
    expect(hash(event({ total: 1 })).key).toBe(key);
    expect(hash(event({}, { timestamp: '2023-03-14T23:59:59.999Z' })).key).toBe(key);
    const others = [
      event({}, { timestamp: '2023-03-15T00:00:00.000Z' }),
      event({}, { event: 'Order Refunded' }),
      event({}, { uuid: '0c3e5a10-1111-4b6e-8f00-000000000021' }),
      event({ distinct_id: 'user-2' }),
      event({ distinct_id: 'user-1O' }, { event: 'rder Completed' }),
    ];
    expect(new Set([key, ...others.map((other) => hash(other).key)]).size).toBe(others.length + 1);
  });

  it('does not depend on the order of members, at any depth', () => {
    const a = event({ x: 1, y: { p: [{ q: 1, r: 2 }], s: 'é' } });
    const b = event({ y: { s: 'é', p: [{ r: 2, q: 1 }] }, x: 1 });
    expect(hash(a)).toEqual(hash(b));
    const { event: name, uuid, timestamp, properties } = a;
    expect(hash({ properties, timestamp, uuid, event: name })).toEqual(hash(a));
  });

  it('tells every other difference', () => {
    const values = [
      ...['', 'a', 'b', 'ab', 'ba', 'a\u0000', '\u0000a', '1', 'true', 'null', 'é', '😀', '😁'],
      ...[0, 1, -1, 0.1, 1e21, 1e300, 5e-324, true, false, null],
      ...[[], {}, [[]], [{}], [null], [1, 2], [2, 1], [[1], 2], [1, [2]], ['1', 2]],
      ...[{ a: 1 }, { a: 2 }, { b: 1 }, { a: 1, b: 2 }, { a: 2, b: 1 }, { a: { b: 1 } }, { a: { a: 1 } }],
      ...['12345678901234567890', '12345678901234567891'].map((digits) => parseJson(`{"n":${digits}}`)),
    ];
    expect(new Set(values.map(contentOf)).size).toBe(values.length);
    expect(hash(event({}, { timestamp: '2023-03-14T09:26:53.124Z' })).content).not.toBe(
      hash(event()).content,
    );
    expect(hash(event(), event()).content).not.toBe(hash(event()).content);
  });

  it('is equal for what is sent as the same text', () => {
    expect(contentOf(-0)).toBe(contentOf(0));
    expect(contentOf(Number.NaN)).toBe(contentOf(null));
    expect(hash(event({ left: undefined })).content).toBe(hash(event()).content);
    expect(contentOf(parseJson('{"n":1000000000000000000000}'))).toBe(contentOf({ n: 1e21 }));
    expect(contentOf(parseJson('{"n":12345678901234567890}'))).toBe(
      contentOf(parseJson('{"n":12345678901234567890}')),
    );
  });

  it('spreads numbered ids and values over all words', () => {
    const keys = new Set<string>();
    const contents = new Set<string>();
    for (let n = 0; n < 20_000; n += 1) {
      const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
      const { key, content } = hash(event({ n }, { uuid }));
      for (const [word, value] of key.split(' ').entries()) keys.add(`${word} ${value}`);
      for (const [word, value] of content.split(' ').entries()) contents.add(`${word} ${value}`);
    }
    // Of 20,000 words of 32 bits about 0.05 are equal to another.
    expect(keys.size).toBeGreaterThanOrEqual(KEY_WORDS * 20_000 - 2);
    expect(contents.size).toBeGreaterThanOrEqual(2 * 20_000 - 2);
  });
});
