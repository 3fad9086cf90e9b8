import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartRecord, RecordFormat } from '../../src/contract/part.ts';
import { SourceError } from '../../src/lib/errors.ts';
import { PartCutter } from '../../src/pipeline/stage/cut-parts.ts';
import type { RecordChunk } from '../../src/sources/formats/read-records.ts';
import { FrameWriter } from '../../src/state/frames.ts';
import { decodeFrames } from '../../src/state/part-records.ts';

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
const member = fc.constantFrom(undefined, 'a.json', 'ä/b.json');
const line = fc.integer({ min: 1, max: 2 ** 40 });
const record: fc.Arbitrary<PartRecord> = fc.oneof(
  fc.record({ kind: fc.constant('record' as const), member, line, bytes }),
  fc.record({
    kind: fc.constant('oversize' as const),
    member,
    line,
    head: bytes,
    size: fc.integer({ min: 1, max: 2 ** 45 }),
    sha256: fc.constant('0123456789abcdef'.repeat(4)),
  }),
);
const header = fc.option(bytes, { nil: undefined });

const write = (head: Uint8Array | undefined, records: readonly PartRecord[]) => {
  const writer = new FrameWriter(head);
  for (const each of records) {
    const expected = writer.bytesWith(each);
    writer.add(each);
    expect(writer.bytes).toBe(expected);
  }
  return writer.take();
};

describe('frames', () => {
  it('give back header and records as they were, line ends, zeros and all', () => {
    fc.assert(
      fc.property(header, fc.array(record), (head, records) => {
        const decoded = decodeFrames(write(head, records));
        expect(decoded.header).toEqual(head);
        expect([...decoded]).toEqual(records);
      }),
    );
  });

  it('never come back other than they were when a byte is lost, added or cut off', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1 }), fc.nat(), (records, place) => {
        const frames = write(undefined, records);
        const at = place % frames.length;
        for (const damaged of [
          Buffer.concat([frames.subarray(0, at), frames.subarray(at + 1)]),
          frames.subarray(0, frames.length - 1 - (at % Math.min(frames.length, 3))),
        ]) {
          let read: unknown;
          try {
            read = [...decodeFrames(damaged)];
          } catch (error) {
            expect(error).toBeInstanceOf(SourceError);
          }
          expect(read).not.toEqual(records);
        }
      }),
    );
  });

  it('say where they are damaged', () => {
    expect(() => [...decodeFrames(Buffer.from('R 1 2\nab\nR 2 9\nab\n'))]).toThrow(/damaged at byte 9/);
    expect(() => [...decodeFrames(Buffer.from('R 1 2\nab\nH 1\na\n'))]).toThrow(SourceError);
    expect(() => decodeFrames(Buffer.from('H x\n'))).toThrow(SourceError);
  });
});

describe('parts', () => {
  const json: RecordFormat = { kind: 'json' };
  const limits = { records: 5, bytes: 300, files: 2 };

  const cut = (chunks: readonly RecordChunk[]) => {
    const cutter = new PartCutter(limits);
    return [...chunks.flatMap((chunk) => [...cutter.add(chunk)]), ...cutter.end()];
  };
  const inChunks = (records: readonly PartRecord[], size: number): RecordChunk[] =>
    Array.from({ length: Math.ceil(records.length / size) }, (_, index) => ({
      format: json,
      header: undefined,
      records: records.slice(index * size, (index + 1) * size),
    }));

  it('cover the file and cut no record, within both limits, however the chunks fall', () => {
    fc.assert(
      fc.property(fc.array(record), fc.integer({ min: 1, max: 9 }), (records, size) => {
        const parts = cut(inChunks(records, size));
        expect(parts.flatMap(({ frames }) => [...decodeFrames(frames)])).toEqual(records);
        let firstRecord = 0;
        for (const [number, part] of parts.entries()) {
          expect(part).toMatchObject({ number, firstRecord });
          expect(part.records).toBeGreaterThan(0);
          expect(part.records).toBeLessThanOrEqual(limits.records);
          if (part.records > 1) expect(part.frames.length).toBeLessThanOrEqual(limits.bytes);
          firstRecord += part.records;
        }
        expect(parts).toEqual(cut(inChunks(records, 1_000)));
      }),
    );
  });

  it('start again where the header row or the format changes', () => {
    const one: PartRecord = { kind: 'record', member: 'a', line: 2, bytes: Buffer.from('1') };
    const csv = (columns: string, delimiter = ','): RecordChunk => ({
      format: { kind: 'csv', delimiter },
      header: Buffer.from(columns),
      records: [one],
    });
    const chunks = [
      csv('a'),
      csv('a'),
      csv('b'),
      csv('b', ';'),
      { format: json, header: undefined, records: [one] },
    ];
    const parts = cut(chunks);
    expect(parts.map(({ records }) => records)).toEqual([2, 1, 1, 1]);
    expect(parts.map(({ frames }) => String(decodeFrames(frames).header ?? ''))).toEqual(['a', 'b', 'b', '']);
  });
});
