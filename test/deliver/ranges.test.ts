import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Batch } from '../../src/contract/delivery.ts';
import { BatchBuilder } from '../../src/deliver/batch-builder.ts';
import { halveByBytes, halveByCount, type Range, sliceBody, takeStart } from '../../src/deliver/ranges.ts';

function toBatch(texts: readonly string[]) {
  const builder = new BatchBuilder();
  for (const text of texts) builder.add(text);
  return builder.take();
}

function cutWhole(batch: Batch, limits: { events: number; bytes: number }): Range[] {
  const ranges: Range[] = [];
  const to = batch.offsets.length - 1;
  for (let from = 0; from < to; from = ranges.at(-1)?.to ?? to) {
    ranges.push(takeStart(batch, { from, to }, limits));
  }
  return ranges;
}

describe('ranges of a batch', () => {
  it('show the texts of their events', () => {
    const batch = toBatch(['1', '22', '333']);
    expect(sliceBody(batch, { from: 1, to: 3 }).toString()).toBe('22,333');
    expect(sliceBody(batch, { from: 0, to: 1 }).toString()).toBe('1');
  });

  it('are halved by count', () => {
    expect(halveByCount({ from: 2, to: 5 })).toEqual([
      { from: 2, to: 4 },
      { from: 4, to: 5 },
    ]);
  });

  it('are halved by bytes, a huge event standing alone', () => {
    const batch = toBatch(['1', '2', '3', 'x'.repeat(100)]);
    expect(halveByBytes(batch, { from: 0, to: 4 })).toEqual([
      { from: 0, to: 3 },
      { from: 3, to: 4 },
    ]);
    const huge = toBatch(['x'.repeat(100), '1', '2']);
    expect(halveByBytes(huge, { from: 0, to: 3 })[0]).toEqual({ from: 0, to: 1 });
  });

  it('cut within limits cover the batch in order, and only a single event may exceed the bytes', () => {
    const texts = fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 30 }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 60 }),
        (all, events, bytes) => {
          const batch = toBatch(all);
          const ranges = cutWhole(batch, { events, bytes });
          expect(ranges.flatMap((range) => all.slice(range.from, range.to))).toEqual(all);
          for (const range of ranges) {
            const count = range.to - range.from;
            expect(count).toBeGreaterThan(0);
            expect(count).toBeLessThanOrEqual(events);
            if (count < events && range.to < all.length) {
              expect(sliceBody(batch, { ...range, to: range.to + 1 }).length).toBeGreaterThan(bytes);
            }
            if (count > 1) {
              expect(sliceBody(batch, range).length).toBeLessThanOrEqual(bytes);
              for (const [first, second] of [halveByCount(range), halveByBytes(batch, range)]) {
                expect([first.from, first.to, second.to]).toEqual([range.from, second.from, range.to]);
                expect(first.to > first.from && second.to > second.from).toBe(true);
              }
            }
          }
        },
      ),
    );
  });
});
