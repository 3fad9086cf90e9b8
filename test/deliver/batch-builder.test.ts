import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Batch } from '../../src/contract/delivery.ts';
import { BatchBuilder, RECORD_BYTES } from '../../src/deliver/batch-builder.ts';
import { ENVELOPE_BYTES } from '../../src/deliver/envelope.ts';
import { dropSpareBuffers } from '../../src/lib/spare-buffers.ts';

const textsOf = (batch: Batch) =>
  batch.offsets
    .slice(0, -1)
    .map((start, index) => batch.body.toString('utf8', start, (batch.offsets[index + 1] ?? 0) - 1));

const roomy = { events: 100, bytes: 100_000, eventBytes: 10_000 };

describe('BatchBuilder', () => {
  it('joins the texts by commas and tells where each starts', () => {
    const builder = new BatchBuilder(roomy);
    builder.add('{"a":1}');
    builder.add('{"ä":"€😀"}');
    const batch = builder.take();
    expect(batch.body.toString()).toBe('{"a":1},{"ä":"€😀"}');
    expect(batch.offsets).toEqual([0, 8, batch.body.length + 1]);
    expect(textsOf(batch)).toEqual(['{"a":1}', '{"ä":"€😀"}']);
  });

  it('takes as many events as allowed and not one more', () => {
    const builder = new BatchBuilder({ ...roomy, events: 2 });
    expect([builder.add('1'), builder.add('2'), builder.add('3')]).toEqual(['added', 'added', 'full']);
    expect(builder.events).toBe(2);
    expect(textsOf(builder.take())).toEqual(['1', '2']);
    expect(builder.add('3')).toBe('added');
  });

  it('fills a request to the last byte, envelope and commas counted', () => {
    const builder = new BatchBuilder({ ...roomy, bytes: ENVELOPE_BYTES + 11 });
    expect([builder.add('"abc"'), builder.add('"abc"')]).toEqual(['added', 'added']);
    const tighter = new BatchBuilder({ ...roomy, bytes: ENVELOPE_BYTES + 10 });
    expect([tighter.add('"abc"'), tighter.add('"abc"')]).toEqual(['added', 'full']);
  });

  it('measures an event in bytes, not characters, and refuses the first byte too many', () => {
    const builder = new BatchBuilder({ ...roomy, eventBytes: 8 });
    expect(builder.add('"€€"')).toBe('added');
    expect(builder.add('"€€a"')).toBe('event_too_large');
    expect(textsOf(builder.take())).toEqual(['"€€"']);
  });

  it('calls an event too large when no empty request could hold it', () => {
    const builder = new BatchBuilder({ ...roomy, bytes: ENVELOPE_BYTES + 5 });
    expect([builder.add('"abc"'), builder.add('"abcd"')]).toEqual(['added', 'event_too_large']);
  });

  it('keeps the events of one record together in a batch of their own, however many they are', () => {
    const builder = new BatchBuilder({ ...roomy, events: 2, bytes: ENVELOPE_BYTES + 20 });
    const addRecord = (...texts: string[]) => {
      builder.startRecord();
      for (const text of texts) {
        builder.startEvent();
        builder.text.write(text);
      }
      return builder.keep();
    };
    expect(addRecord('1')).toBe('added');
    expect(addRecord('2', '3', '4')).toBe('full');
    expect(textsOf(builder.take())).toEqual(['1']);
    expect(builder.keep()).toBe('added');
    expect(addRecord('5')).toBe('full');
    expect(textsOf(builder.take())).toEqual(['2', '3', '4']);
    expect(builder.keep()).toBe('added');
    expect(textsOf(builder.take())).toEqual(['5']);
    expect(addRecord('"abcdefgh"', '"ijklmnop"')).toBe('added');
    expect(textsOf(builder.take())).toEqual(['"abcdefgh"', '"ijklmnop"']);
  });

  it('calls a record too large by the bytes of its events, whatever a request may hold', () => {
    const event = `"${'x'.repeat(1024 * 1024 - 3)}"`;
    for (const limits of [
      { ...roomy, bytes: RECORD_BYTES * 4 },
      { ...roomy, bytes: 2 * 1024 * 1024 },
    ]) {
      const builder = new BatchBuilder({ ...limits, eventBytes: RECORD_BYTES });
      const addRecord = (last: string) => {
        builder.startRecord();
        for (let count = 1; count <= 16; count += 1) {
          builder.startEvent();
          builder.text.write(count < 16 ? event : last);
        }
        return builder.keep();
      };
      expect(addRecord(`${event} `)).toBe('added');
      builder.take();
      expect(addRecord(`${event}  `)).toBe('record_too_large');
    }
  });

  it('ends a record at the first event by which it is too large, and takes the next one', () => {
    const builder = new BatchBuilder({ ...roomy, eventBytes: 8 });
    builder.add('1');
    builder.startRecord();
    expect(builder.startEvent()).toBe(true);
    builder.text.write('"too long"');
    expect(builder.startEvent()).toBe(false);
    expect(builder.keep()).toBe('event_too_large');
    expect(builder.add('2')).toBe('added');
    expect(textsOf(builder.take())).toEqual(['1', '2']);
  });

  it('keeps what it handed over apart from what it packs next', () => {
    const builder = new BatchBuilder(roomy);
    builder.add('"first"');
    const first = builder.take();
    builder.add('"other"');
    expect(first.body.toString()).toBe('"first"');
    expect(builder.take().body.toString()).toBe('"other"');
    expect(builder.take()).toEqual({ body: Buffer.alloc(0), offsets: [1] });
  });

  it('leaves its memory to the next one, and the batches that it handed over alone', () => {
    dropSpareBuffers();
    const builder = new BatchBuilder(roomy);
    builder.add('"kept"');
    const batch = builder.take();
    const { buffer } = builder.text.bytes;
    builder.close();
    const others = [new BatchBuilder(roomy), new BatchBuilder(roomy)];
    expect(others[0]?.text.bytes.buffer).toBe(buffer);
    for (const other of others) other.add('"another"');
    expect(textsOf(batch)).toEqual(['"kept"']);
  });

  it('keeps the order, loses nothing and stays within its limits, whatever comes', () => {
    const limits = fc.record({
      events: fc.integer({ min: 1, max: 8 }),
      bytes: fc.integer({ min: ENVELOPE_BYTES + 1, max: ENVELOPE_BYTES + 200 }),
      eventBytes: fc.integer({ min: 1, max: 120 }),
    });
    const texts = fc.array(
      fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => JSON.stringify(text)),
    );
    fc.assert(
      fc.property(limits, texts, (limit, events) => {
        const builder = new BatchBuilder(limit);
        const batches: Batch[] = [];
        const tooLarge: string[] = [];
        for (const event of events) {
          let added = builder.add(event);
          if (added === 'full') {
            batches.push(builder.take());
            added = builder.add(event);
          }
          expect(added).not.toBe('full');
          if (added === 'event_too_large') tooLarge.push(event);
        }
        batches.push(builder.take());

        const largest = Math.min(limit.eventBytes, limit.bytes - ENVELOPE_BYTES);
        expect(tooLarge).toEqual(events.filter((event) => Buffer.byteLength(event) > largest));
        expect(batches.flatMap(textsOf)).toEqual(
          events.filter((event) => Buffer.byteLength(event) <= largest),
        );
        for (const batch of batches) {
          expect(batch.offsets.length - 1).toBeLessThanOrEqual(limit.events);
          expect(batch.body.length + ENVELOPE_BYTES).toBeLessThanOrEqual(limit.bytes);
        }
      }),
    );
  });
});
