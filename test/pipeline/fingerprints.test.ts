import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TargetEvent } from '../../src/contract/event.ts';
import type { FingerprintIndex } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { TextBuffer } from '../../src/lib/text-buffer.ts';
import { EventWriter } from '../../src/pipeline/event-writer.ts';
import { Fingerprints } from '../../src/pipeline/fingerprints.ts';
import { Outcomes } from '../../src/pipeline/outcomes.ts';
import { planRepeatRanges } from '../../src/pipeline/repeats/plan-repeats.ts';
import {
  FINGERPRINT_BYTES,
  FINGERPRINT_WORDS,
  type FingerprintRange,
  getFingerprintBucket,
  readFingerprints,
  saveFingerprints,
  unpackRecord,
} from '../../src/state/fingerprints.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

let folder: string;
let staging: Staging;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-fingerprints-'));
  staging = createFolderStaging(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const event = (n: number, day: string, name = 'seen', text = '') => ({
  event: name,
  uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  timestamp: `${day}T10:00:00.000Z`,
  properties: { distinct_id: 'user', text },
});

/** Fingerprints of events, hashed and labelled as a part's are. */
function createFingerprints(records: number) {
  const fingerprints = new Fingerprints(records);
  const outcomes = new Outcomes(records);
  const writer = new EventWriter(new TextBuffer(1024));
  return {
    add(record: number, events: readonly TargetEvent[]) {
      writer.write(events, () => true);
      return fingerprints.add(record, writer.words, outcomes.toLabel(events));
    },
    encode: (isRejected: (record: number) => boolean, names: readonly string[]) =>
      fingerprints.encode(isRejected, outcomes.labels, names),
  };
}

describe('the fingerprints of a part', () => {
  it('tell a repeat, by the record that it repeats, from a different record of the same key', () => {
    const fingerprints = createFingerprints(10);
    expect(fingerprints.add(0, [event(1, '2024-01-01')])).toBeUndefined();
    expect(fingerprints.add(3, [event(2, '2024-01-01')])).toBeUndefined();
    expect(fingerprints.add(4, [event(2, '2024-01-01')])).toBe(3);
    expect(fingerprints.add(5, [event(2, '2024-01-01', 'seen', 'other')])).toBeUndefined();
    expect(fingerprints.add(6, [event(2, '2024-01-01', 'seen', 'other')])).toBe(5);
    expect(fingerprints.add(7, [event(2, '2024-01-02')])).toBeUndefined();
    const { body, sections } = fingerprints.encode((record) => record === 0, ['seen']);
    expect(sections).toEqual([
      { day: '2024-01-01', rows: 2 },
      { day: '2024-01-02', rows: 1 },
    ]);
    expect(body).toHaveLength(3 * FINGERPRINT_BYTES);
  });

  it('name events by the tally of the part, those beyond its limit as others', async () => {
    const fingerprints = createFingerprints(3);
    for (const [n, name] of ['b', 'a', 'beyond'].entries())
      fingerprints.add(n, [event(n, '2024-01-01', name)]);
    const encoded = fingerprints.encode(() => false, ['a', 'b', '(other)']);
    const index = await saveFingerprints(staging, 'names.bin', encoded);
    const read = await readFingerprints(staging, index, { fromDay: '2024-01-01', toDay: '2024-01-01' });
    expect(recordsOf(read?.words).toSorted((a, b) => a.record - b.record)).toEqual([
      { record: 0, name: 1 },
      { record: 1, name: 0 },
      { record: 2, name: 2 },
    ]);
  });

  it('are read by day and bucket, each row once, whatever the ranges', async () => {
    const days = ['2024-01-01', '2024-01-02', '2024-01-03'];
    const fingerprints = createFingerprints(5_000);
    // The first and the last day are too small to be kept by bucket.
    const toDay = (n: number) => days[n < 500 ? 2 : n < 1_000 ? 0 : 1] ?? '';
    for (let n = 0; n < 5_000; n += 1) fingerprints.add(n, [event(n, toDay(n))]);
    const index = await saveFingerprints(
      staging,
      'days.bin',
      fingerprints.encode(() => false, ['seen']),
    );
    expect(index.sections.map(({ rows, buckets }) => [rows, buckets?.length])).toEqual([
      [500, undefined],
      [4_000, 64],
      [500, undefined],
    ]);
    for (const rangeRows of [100, 1_000, 4_600, 10_000]) {
      const read: number[] = [];
      for (const range of planRepeatRanges([index], { rangeRows, foldRows: 300 }).flat())
        read.push(...(await readRange(index, range)));
      expect(read.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
    }
  });

  async function readRange(index: FingerprintIndex, range: FingerprintRange): Promise<number[]> {
    const rows = await readFingerprints(staging, index, range);
    const [from, to] = range.buckets ?? [0, 64];
    const words = rows?.words ?? new Int32Array();
    for (let at = 0; at < words.length; at += FINGERPRINT_WORDS) {
      const bucket = getFingerprintBucket(words[at] as number);
      expect(bucket >= from && bucket < to).toBe(true);
    }
    const count = (rows?.runs ?? []).reduce((sum, run) => sum + run.rows, 0);
    expect(count * FINGERPRINT_WORDS).toBe(words.length);
    for (const { day } of rows?.runs ?? []) expect(day >= range.fromDay && day <= range.toDay).toBe(true);
    return recordsOf(words).map(({ record }) => record);
  }
});

const recordsOf = (words: Int32Array = new Int32Array()) =>
  Array.from({ length: words.length / FINGERPRINT_WORDS }, (_, row) =>
    unpackRecord(words[(row + 1) * FINGERPRINT_WORDS - 1] as number),
  );

describe('ranges of fingerprints', () => {
  const index = (rows: Readonly<Record<string, number>>): FingerprintIndex => ({
    key: '',
    sections: Object.entries(rows).map(([day, count]) => ({ day, rows: count })),
  });

  it('hold neighbouring days up to the limit, over all parts', () => {
    const indexes = [index({ a: 3, c: 4 }), index({ a: 2, b: 5, d: 1 })];
    expect(planRepeatRanges(indexes, { rangeRows: 10 })).toEqual([
      [{ fromDay: 'a', toDay: 'b' }],
      [{ fromDay: 'c', toDay: 'd' }],
    ]);
    expect(planRepeatRanges(indexes, { rangeRows: 9 })).toEqual([
      [{ fromDay: 'a', toDay: 'a' }],
      [{ fromDay: 'b', toDay: 'c' }],
      [{ fromDay: 'd', toDay: 'd' }],
    ]);
  });

  it('split a day that is larger than the limit, at most into its buckets', () => {
    expect(planRepeatRanges([index({ a: 1, b: 10, c: 1 })], { rangeRows: 9 })).toEqual([
      [{ fromDay: 'a', toDay: 'a' }],
      [{ fromDay: 'b', toDay: 'b', buckets: [0, 32] }],
      [{ fromDay: 'b', toDay: 'b', buckets: [32, 64] }],
      [{ fromDay: 'c', toDay: 'c' }],
    ]);
    expect(planRepeatRanges([index({ a: 1_000 })], { rangeRows: 1 })).toHaveLength(64);
  });

  it('are folded by days and buckets, where they are larger than what is folded at once', () => {
    const day = (day: string, buckets?: readonly [number, number]) => ({
      fromDay: day,
      toDay: day,
      ...(buckets ? { buckets } : {}),
    });
    expect(planRepeatRanges([index({ a: 2, b: 2, c: 6, d: 20 })], { rangeRows: 10, foldRows: 4 })).toEqual([
      [{ fromDay: 'a', toDay: 'b' }, day('c', [0, 32]), day('c', [32, 64])],
      [day('d', [0, 10]), day('d', [10, 21]), day('d', [21, 32])],
      [day('d', [32, 42]), day('d', [42, 53]), day('d', [53, 64])],
    ]);
  });

  it('are none where nothing was delivered', () => {
    expect(planRepeatRanges([])).toEqual([]);
  });
});
