import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PART_MAX_FILES, type PartMeta, type PartRecord } from '../../../src/contract/part.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { toGroup } from '../../../src/pipeline/stage/slice-groups.ts';
import { stageSlice } from '../../../src/pipeline/stage/stage-slice.ts';
import { listFileParts, listFileReceipts, listParts, loadPart } from '../../../src/state/parts.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';
import { writeZip } from '../../sources/formats/write-zip.ts';

const prefix = 'test/';
const GROUP = '0123456789ab';
const unstopped = new AbortController().signal;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'backhaul-group-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newStaging = async () => createFolderStaging(await mkdtemp(join(root, 's-')));
const collect = async <T>(items: AsyncIterable<T>) => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
const objects = async (staging: Staging) => {
  const all = new Map<string, string>();
  for await (const { key } of staging.list('')) all.set(key, hash('sha256', (await staging.get(key)) ?? ''));
  return all;
};

type Bodies = Readonly<Record<string, string | Buffer>>;
const lines = (name: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `{"f":"${name}","n":${from + index}}\n`).join('');
const stage = (staging: Staging, bodies: Bodies, more: Partial<Parameters<typeof stageSlice>[0]> = {}) => {
  const files = Object.entries(bodies).map(([name, body]) => memorySlice(body, { name }));
  return stageSlice({ slice: toGroup(GROUP, files), staging, prefix, signal: unstopped, ...more });
};

/** Every staged record as `file line text`. */
async function readRecords(staging: Staging): Promise<string[]> {
  const texts: string[] = [];
  for await (const part of listParts(staging, prefix)) {
    for (const record of await loadPart(staging, prefix, part)) texts.push(describeRecord(record));
  }
  return texts;
}
const describeRecord = (record: PartRecord) =>
  `${record.file} ${record.line} ${record.kind === 'record' ? Buffer.from(record.bytes).toString() : 'too large'}`;
const expected = (bodies: Readonly<Record<string, string>>) =>
  Object.entries(bodies).flatMap(([name, body]) =>
    body
      .trimEnd()
      .split('\n')
      .map((text, index) => `${name} ${index + 1} ${text}`),
  );

describe('staging a group of small files', () => {
  const bodies = { a: lines('a', 3), b: lines('b', 2), c: lines('c', 4) };

  it('puts their records into common parts, each with its file and line', async () => {
    const staging = await newStaging();
    const made: PartMeta[] = [];
    const receipt = await stage(staging, bodies, { onPart: (part) => void made.push(part) });
    expect(await readRecords(staging)).toEqual(expected(bodies));
    expect(made).toEqual(await collect(listParts(staging, prefix)));
    expect(made).toMatchObject([{ id: `${GROUP}/00000`, file: 'a … c (3 files)', records: 9 }]);
    expect(made[0]).not.toHaveProperty('pieces');
    const [part] = await collect(listFileParts(staging, prefix, GROUP));
    expect(part?.pieces).toMatchObject([
      { file: 'a', firstRecord: 0, records: 3 },
      { file: 'b', firstRecord: 0, records: 2 },
      { file: 'c', firstRecord: 0, records: 4 },
    ]);
    expect(receipt).toMatchObject({ parts: 1, records: 9, fingerprint: { bytes: 144 } });
    expect(receipt.files?.map(({ file, records }) => [file, records])).toEqual([
      ['a', 3],
      ['b', 2],
      ['c', 4],
    ]);
    expect(receipt).not.toHaveProperty('broken');
    expect(await collect(listFileReceipts(staging, prefix))).toEqual([receipt]);
  });

  it('unpacks gzip and zip files among them, whose small members share parts as well', async () => {
    const staging = await newStaging();
    const hours = Array.from({ length: 100 }, (_, hour) => ({
      name: `${hour}.json.gz`,
      body: gzipSync(lines('h', 1, hour)),
    }));
    await stage(staging, { 'a.gz': gzipSync(lines('a', 2)), 'b.zip': writeZip(hours), c: lines('c', 1) });
    const parts = await collect(listParts(staging, prefix));
    expect(parts.map(({ records }) => records)).toEqual([103]);
    const records = [...(await loadPart(staging, prefix, parts[0] as PartMeta))];
    expect(records[101]).toMatchObject({ file: 'b.zip', member: '99.json.gz', line: 1 });
    expect(records[102]).toMatchObject({ file: 'c', member: undefined, line: 1 });

    const alone = await newStaging();
    await stageSlice({ slice: memorySlice(writeZip(hours)), staging: alone, prefix, signal: unstopped });
    expect(await collect(listParts(alone, prefix))).toMatchObject([{ records: 100 }]);
  });

  it('keeps CSVs of one header together, and starts a part where the header changes', async () => {
    const staging = await newStaging();
    const files = ['x,y\n1,2\n', 'x,y\n3,4\n', 'x,z\n5,6\n', 'x,z\n7,8\n'].map((body, index) =>
      memorySlice(body, { name: `${index}.csv`, read: { format: 'csv' } }),
    );
    await stageSlice({ slice: toGroup(GROUP, files), staging, prefix, signal: unstopped });
    const parts = await collect(listParts(staging, prefix));
    const loaded = await Promise.all(parts.map((part) => loadPart(staging, prefix, part)));
    expect(loaded.map(({ header }) => String(header))).toEqual(['x,y', 'x,z']);
    expect(loaded.map((records) => [...records].map(describeRecord))).toEqual([
      ['0.csv 2 1,2', '1.csv 2 3,4'],
      ['2.csv 2 5,6', '3.csv 2 7,8'],
    ]);
  });

  it(`starts a part behind ${PART_MAX_FILES} files`, async () => {
    const staging = await newStaging();
    const names = Array.from(
      { length: PART_MAX_FILES + 1 },
      (_, index) => `f${String(index).padStart(4, '0')}`,
    );
    await stage(staging, Object.fromEntries(names.map((name) => [name, lines(name, 2)])));
    const parts = await collect(listParts(staging, prefix));
    expect(parts.map(({ records }) => records)).toEqual([PART_MAX_FILES * 2, 2]);
  });

  it('continues after an interruption anywhere, and ends with the same objects', async () => {
    // Each file fills half a part, so that there are many parts.
    const large = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [name, `{"f":"${name}","x":"${'x'.repeat(5 * 1024 * 1024)}"}\n`]),
    );
    const whole = await newStaging();
    await stage(whole, large);
    const all = await objects(whole);
    for (const stopAfter of [1, 2, 3]) {
      const staging = await newStaging();
      const stop = new AbortController();
      let made = 0;
      const onPart = () => {
        made += 1;
        if (made === stopAfter) stop.abort(new Error('stopped'));
      };
      await expect(stage(staging, large, { signal: stop.signal, onPart })).rejects.toThrow('stopped');
      const before = await objects(staging);
      expect(before.size).toBeGreaterThan(0);
      const written: string[] = [];
      const watched: Staging = {
        ...staging,
        put(key, bytes) {
          written.push(key);
          return staging.put(key, bytes);
        },
      };
      await stage(watched, large);
      expect(written.filter((key) => before.has(key))).toEqual([]);
      expect(await objects(staging)).toEqual(all);
      written.length = 0;
      await stage(watched, large);
      expect(written).toEqual([]);
    }
  });

  it('writes a part again whose description is gone, under its number', async () => {
    const names = Array.from({ length: PART_MAX_FILES * 2 + 1 }, (_, index) =>
      String(index).padStart(4, '0'),
    );
    const many = Object.fromEntries(names.map((name) => [name, lines(name, 1)]));
    const staging = await newStaging();
    await stage(staging, many);
    const whole = await objects(staging);
    await staging.remove(`${prefix}parts/${GROUP}/00001.json`);
    await stage(staging, many);
    expect(await objects(staging)).toEqual(whole);
  });

  it('stages all others when some files are broken, and what was missing once they are repaired', async () => {
    const staging = await newStaging();
    const packed = gzipSync(lines('b', 3_000));
    const broken = { ...bodies, b: packed.subarray(0, packed.length / 2), d: gzipSync('x').subarray(0, 12) };
    const failure = await stage(staging, broken).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceError);
    expect(String(failure)).toMatch(/b is damaged gzip at byte \d+.*\nd is damaged gzip/);
    const [receipt] = await collect(listFileReceipts(staging, prefix));
    expect(receipt?.files?.map(({ file }) => file)).toEqual(['a', 'c']);
    expect(receipt?.broken?.map(({ file }) => file)).toEqual(['b', 'd']);
    const before = await collect(listParts(staging, prefix));
    const early = await readRecords(staging);
    expect(early.length).toBeGreaterThan(500);
    expect(early.filter((text) => text.startsWith('c '))).toHaveLength(4);

    const repaired = { a: bodies.a, b: packed, c: bodies.c, d: gzipSync(lines('d', 2)) };
    const whole = await stage(staging, repaired);
    expect(whole).not.toHaveProperty('broken');
    expect(whole).toMatchObject({ parts: 2, records: 3_009 });
    expect((await collect(listParts(staging, prefix))).slice(0, 1)).toEqual(before);
    const texts = { a: bodies.a, b: lines('b', 3_000), c: bodies.c, d: lines('d', 2) };
    expect((await readRecords(staging)).toSorted()).toEqual(expected(texts).toSorted());
  });

  it('reads only the broken file again, and needs no other once those are staged', async () => {
    const staging = await newStaging();
    const packed = gzipSync(lines('b', 50), { level: 0 });
    await expect(stage(staging, { ...bodies, b: packed.subarray(0, packed.length / 2) })).rejects.toThrow(
      'b is',
    );
    const gone = (name: string) => ({
      ...memorySlice(bodies.a, { name }),
      readRecords: () => {
        throw new SourceError(`${name} is gone`);
      },
    });
    const files = [gone('a'), memorySlice(packed, { name: 'b' }), { ...gone('c'), bytes: bodies.c.length }];
    const slice = toGroup(GROUP, files);
    expect(await stageSlice({ slice, staging, prefix, signal: unstopped })).toMatchObject({ records: 57 });
    expect(await readRecords(staging)).toHaveLength(57);
  });

  it('refuses a file that changed behind the parts that hold it, and stages the others', async () => {
    const other = { ...bodies, b: bodies.b.replace('"n":1', '"n":7') };
    const shorter = { ...bodies, b: lines('b', 1) };
    for (const [changed, words] of [
      [other, /b changed after it was staged \(it has other content\).*put the old file back/],
      [shorter, /b changed after it was staged \(it has fewer records\)/],
    ] as const) {
      const staging = await newStaging();
      await stage(staging, bodies);
      await staging.remove(`${prefix}files/${GROUP}.json`);
      const failure = await stage(staging, { ...changed, d: lines('d', 1) }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toMatch(words);
      expect(await readRecords(staging)).toContain('d 1 {"f":"d","n":0}');
    }
    const staging = await newStaging();
    await stage(staging, bodies);
    await expect(stage(staging, shorter)).rejects.toThrow(/b changed .*it had 32 bytes and now has 16/);
  });

  it('holds every record once, however the files are broken and repaired', async () => {
    const sizes = fc.array(fc.nat({ max: 12 }), { minLength: 2, maxLength: 6 });
    const cuts = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }), {
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(sizes, cuts, async (counts, rounds) => {
        const staging = await newStaging();
        const texts = Object.fromEntries(
          counts.map((count, index) => [`f${index}`, lines(`f${index}`, count)]),
        );
        for (const round of rounds) {
          const cut = Object.entries(texts).map(([name, text], index): [string, Buffer] => {
            const whole = gzipSync(text, { level: 0 });
            const share = round[index] ?? 1;
            return [name, whole.subarray(0, Math.max(4, Math.floor(whole.length * share)))];
          });
          await stage(staging, Object.fromEntries(cut)).catch(() => {});
        }
        const whole = Object.entries(texts).map(([name, text]) => [name, gzipSync(text, { level: 0 })]);
        await staging.remove(`${prefix}files/${GROUP}.json`); // its sizes are those of the cut files
        await stage(staging, Object.fromEntries(whole) as Bodies);
        const wanted = Object.entries(texts).flatMap(([name, text]) =>
          text === '' ? [] : expected({ [name]: text }),
        );
        expect((await readRecords(staging)).toSorted()).toEqual(wanted.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
