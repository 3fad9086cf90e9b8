import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PART_MAX_RECORDS, type PartMeta } from '../../../src/contract/part.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { stageSlice } from '../../../src/pipeline/stage/stage-slice.ts';
import type { SourceFile } from '../../../src/sources/files/source-file.ts';
import { MAGIC_BYTES } from '../../../src/sources/formats/magic.ts';
import { readRecords } from '../../../src/sources/formats/read-records.ts';
import { MissingColumnsError } from '../../../src/sources/formats/split-csv.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { partKeys } from '../../../src/state/keys/parts.ts';
import { listFileReceipts, listParts, loadPart } from '../../../src/state/parts.ts';
import { createReceipt } from '../../../src/state/receipts.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { memoryFile, memorySlice } from '../../sources/formats/memory-file.ts';
import { writeZip } from '../../sources/formats/write-zip.ts';

const prefix = 'test/';
const COUNT = PART_MAX_RECORDS * 2 + 500;
const body = Array.from(
  { length: COUNT },
  (_, index) => `{"n":${index},"bad":${index % 1_000 === 7 ? 'nonsense' : 1}}\n`,
).join('');
const unstopped = new AbortController().signal;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'backhaul-stage-'));
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
  for await (const { key } of staging.list(''))
    all.set(key, String((await staging.get(key))?.toString('base64')));
  return all;
};
const stage = (
  staging: Staging,
  source: string | Buffer,
  more: Partial<Parameters<typeof stageSlice>[0]> = {},
) => stageSlice({ slice: memorySlice(source), staging, prefix, signal: unstopped, ...more });

/** What a bucket gives that trickles: small pieces, which are counted once they are not wanted any more. */
function trickling(source: Buffer, stop: AbortController) {
  const late = { pieces: 0 };
  const whole = memoryFile(source, 64);
  const file: SourceFile = {
    ...whole,
    async *open(range) {
      for await (const piece of whole.open(range)) {
        yield piece;
        if (range?.end !== MAGIC_BYTES) stop.abort(new Error('paused'));
        if (stop.signal.aborted) late.pieces += 1;
      }
    },
  };
  const slice = {
    ...memorySlice(source),
    readRecords: (see?: (bytes: Buffer) => void) => readRecords(file, {}, see),
  };
  return { slice, late };
}

describe('staging a slice', () => {
  it.each([
    ['lines', Buffer.from(body)],
    ['a zip', writeZip([{ name: 'a.json', body: Buffer.from(body) }])],
  ])('of %s ends at the next piece once it is aborted, though it trickles', async (_, source) => {
    const stop = new AbortController();
    const { slice, late } = trickling(source, stop);
    const staging = await newStaging();
    await expect(stage(staging, '', { slice, signal: stop.signal })).rejects.toThrow('paused');
    expect(late.pieces).toBeLessThan(10);
  });

  it('keeps nothing of a CSV that lacks a declared column, and names file and columns', async () => {
    const staging = await newStaging();
    const checkColumns = (names: readonly string[]) => `has only ${names.join(' and ')}`;
    const read = { format: 'csv', delimiter: ',', checkColumns } as const;
    await expect(stage(staging, '', { slice: memorySlice('x,y\n1,2\n', { read }) })).rejects.toThrow(
      new MissingColumnsError('export: the header row has only x and y'),
    );
    expect(await objects(staging)).toEqual(new Map());
  });

  it('keeps every record with its line and text, unreadable ones too, and counts them', async () => {
    const staging = await newStaging();
    const made: PartMeta[] = [];
    const receipt = await stage(staging, body, { onPart: (part) => void made.push(part) });
    const parts = await collect(listParts(staging, prefix));
    expect(made).toEqual(parts);
    expect(parts.map(({ records }) => records)).toEqual([PART_MAX_RECORDS, PART_MAX_RECORDS, 500]);
    expect(parts.map(({ firstRecord }) => firstRecord)).toEqual([0, PART_MAX_RECORDS, PART_MAX_RECORDS * 2]);
    expect(receipt).toMatchObject({ parts: 3, records: COUNT });
    expect(receipt.fingerprint.sha256).toBe(createHash('sha256').update(body).digest('hex'));
    expect(await collect(listFileReceipts(staging, prefix))).toEqual([receipt]);

    const texts: string[] = [];
    for (const part of parts) {
      for (const record of await loadPart(staging, prefix, part)) {
        expect(record.line).toBe(texts.length + 1);
        texts.push(record.kind === 'record' ? Buffer.from(record.bytes).toString() : '');
      }
    }
    expect(`${texts.join('\n')}\n`).toBe(body);
  });

  it('makes the same objects of the same bytes, however they arrive', async () => {
    const staged = await Promise.all(
      [100, 4_096, 10_000_000].map(async (chunkBytes) => {
        const staging = await newStaging();
        await stage(staging, '', { slice: memorySlice(body, { chunkBytes }) });
        return objects(staging);
      }),
    );
    expect(staged[0]?.size).toBe(7);
    expect(staged[1]).toEqual(staged[0]);
    expect(staged[2]).toEqual(staged[0]);
  });

  it('frees the memory of each chunk once its records are copied, and not before', async () => {
    const [kept, freed] = [await newStaging(), await newStaging()];
    await stage(kept, gzipSync(body));
    const slice = memorySlice(gzipSync(body));
    const isFreed: boolean[] = [];
    async function* readRecords(see?: (bytes: Buffer) => void) {
      for await (const chunk of slice.readRecords(see)) {
        const at = isFreed.push(false) - 1;
        const free = () => {
          isFreed[at] = true;
          for (const record of chunk.records) if (record.kind === 'record') record.bytes.fill(0);
        };
        yield { ...chunk, free };
        expect(isFreed[at]).toBe(true);
      }
    }
    await stage(freed, '', { slice: { ...slice, readRecords } });
    expect(isFreed.length).toBeGreaterThan(1);
    expect(await objects(freed)).toEqual(await objects(kept));
  });

  it('continues after an interruption, writes only what is missing, and ends with the same objects', async () => {
    const whole = await newStaging();
    await stage(whole, body);
    const staging = await newStaging();
    const stop = new AbortController();
    const stopped = stage(staging, body, {
      slice: memorySlice(body, { chunkBytes: 10_000 }),
      signal: stop.signal,
      onPart: () => stop.abort(new Error('stopped')),
    });
    await expect(stopped).rejects.toThrow('stopped');
    const before = await objects(staging);
    expect(before.size).toBeGreaterThan(0);
    expect(await collect(listFileReceipts(staging, prefix))).toEqual([]);

    const written: string[] = [];
    const watched: Staging = {
      ...staging,
      put(key, bytes) {
        written.push(key);
        return staging.put(key, bytes);
      },
    };
    const made: PartMeta[] = [];
    await stage(watched, body, { onPart: (part) => void made.push(part) });
    expect(made.map(({ number }) => number)).toEqual([0, 1, 2]);
    expect(written.filter((key) => before.has(key))).toEqual([]);
    expect(await objects(staging)).toEqual(await objects(whole));

    written.length = 0;
    await stage(watched, body, { onPart: (part) => void made.push(part) });
    expect(written).toEqual([]);
    expect(made).toHaveLength(6);
  });

  it('stages a part again whose body was written but not described', async () => {
    const staging = await newStaging();
    await stage(staging, body);
    const whole = await objects(staging);
    const { fileId } = memorySlice(body);
    await staging.remove(`${prefix}parts/${fileId}/00001.json`);
    await staging.remove(`${prefix}files/${fileId}.json`);
    await stage(staging, body);
    expect(await objects(staging)).toEqual(whole);
  });

  it('believes no receipt whose parts are not all there', async () => {
    const staging = await newStaging();
    await stage(staging, body);
    const whole = await objects(staging);
    await staging.remove(`${prefix}parts/${memorySlice(body).fileId}/00001.json`);
    await stage(staging, body);
    expect(await objects(staging)).toEqual(whole);
  });

  it('refuses a file that lost whole parts before it was staged to its end', async () => {
    const staging = await newStaging();
    await stage(staging, body);
    await staging.remove(`${prefix}files/${memorySlice('').fileId}.json`);
    const shorter = body.slice(0, body.indexOf(`{"n":${PART_MAX_RECORDS * 2},`));
    await expect(stage(staging, shorter)).rejects.toThrow(
      /changed after it was staged \(it has fewer records\)/,
    );
  });

  it('refuses a file that changed behind parts that are staged, and names the choices', async () => {
    const longer = `${body}{"n":"appended"}\n`;
    const other = body.replace('"n":5,', '"n":6,');
    const shorter = body.slice(0, body.indexOf('{"n":21000,'));
    for (const hasReceipt of [true, false]) {
      // One that grew before it was staged to its end is staged to its new end.
      for (const changedBody of hasReceipt ? [longer, other, shorter] : [other, shorter]) {
        const staging = await newStaging();
        await stage(staging, body);
        if (!hasReceipt) await staging.remove(`${prefix}files/${memorySlice('').fileId}.json`);
        const slice = { ...memorySlice(changedBody), modified: '2025-01-01T00:00:00.000Z' };
        const failure = await stage(staging, '', { slice }).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(SourceError);
        expect(String(failure)).toMatch(/changed after it was staged.*put the old file back.*another name/);
      }
    }
  });

  it('takes a file that was only touched', async () => {
    const staging = await newStaging();
    await stage(staging, body);
    const slice = { ...memorySlice(body), modified: '2025-01-01T00:00:00.000Z' };
    expect(await stage(staging, '', { slice })).toMatchObject({ fingerprint: { modified: slice.modified } });
  });

  it('keeps what precedes a cut, without a receipt, and continues behind it once the file is whole', async () => {
    const staging = await newStaging();
    const packed = gzipSync(body);
    await expect(stage(staging, packed.subarray(0, -40_000))).rejects.toThrow(/damaged gzip at byte/);
    expect(await collect(listFileReceipts(staging, prefix))).toEqual([]);
    const before = await collect(listParts(staging, prefix));
    const kept = before.reduce((sum, { records }) => sum + records, 0);
    expect(kept % PART_MAX_RECORDS).toBeGreaterThan(0); // the last part was not full when the fault came
    expect(kept).toBeLessThan(COUNT);

    expect(await stage(staging, packed)).toMatchObject({ records: COUNT });
    const parts = await collect(listParts(staging, prefix));
    expect(parts.slice(0, before.length)).toEqual(before);
    expect(parts.reduce((sum, { records }) => sum + records, 0)).toBe(COUNT);
    expect(parts.at(-1)?.firstRecord).toBe(COUNT - (parts.at(-1)?.records ?? 0));

    // The description of the part that was cut short is lost: it is written again, as it was.
    const complete = await objects(staging);
    await staging.remove(partKeys(prefix).description(String(before.at(-1)?.id)));
    await stage(staging, packed);
    expect(await objects(staging)).toEqual(complete);

    // And with that of its neighbour: their records say where each ended.
    const { description, body: toBodyKey } = partKeys(prefix);
    const around = parts.slice(before.length - 1, before.length + 1);
    const lose = () => Promise.all(around.map(({ id }) => staging.remove(description(id))));
    await lose();
    await stage(staging, packed);
    expect(await objects(staging)).toEqual(complete);

    // Without these nothing says so, and parts that were imported are not cut again.
    await lose();
    for (const part of around) await staging.remove(toBodyKey(part));
    const left = await objects(staging);
    const [imported] = around;
    const counts = { read: 0, delivered: 0, skipped: 0, duplicate: 0, rejected: 0 };
    const receipt = {
      part: imported?.id ?? '',
      file: 'a',
      mapping: 'test@1',
      tally: { counts, events: { sent: 0, accepted: 0 }, byDay: {}, byEvent: {}, byReason: {} },
      rejectSegments: [],
    };
    await createReceipt(staging, prefix.slice(0, -1), receipt);
    await expect(stage(staging, packed)).rejects.toThrow(/nothing says where part .* ended/);
    const { receipt: toReceiptKey } = layout(prefix.slice(0, -1));
    await staging.remove(toReceiptKey(receipt.part));
    expect(await objects(staging)).toEqual(left);
  });

  it('writes no part again that was lost, where the file has other content of the same size', async () => {
    const staging = await newStaging();
    await stage(staging, body);
    const [, second] = await collect(listParts(staging, prefix));
    await staging.remove(partKeys(prefix).description(second?.id ?? ''));
    const before = await objects(staging);
    const changed = Buffer.from(body);
    const at = changed.length - 5;
    changed[at] = (changed[at] ?? 0) ^ 1;
    const slice = { ...memorySlice(changed), modified: '2025-01-01T00:00:00.000Z' };
    await expect(stage(staging, '', { slice })).rejects.toThrow(/changed after it was staged/);
    expect(await objects(staging)).toEqual(before);
  });

  it('stages empty files, zips and CSVs with their header in every part', async () => {
    const empty = await newStaging();
    expect(await stage(empty, '')).toMatchObject({ parts: 0, records: 0 });

    const zipped = await newStaging();
    const zip = writeZip(['b', 'a'].map((name) => ({ name, body: gzipSync(`{"m":"${name}"}`) })));
    const { fingerprint } = await stage(zipped, zip);
    const [part] = await collect(listParts(zipped, prefix));
    if (!part) throw new Error('no part');
    expect([...(await loadPart(zipped, prefix, part))].map(({ member }) => member)).toEqual(['a', 'b']);
    const other = writeZip(['b', 'a'].map((name) => ({ name, body: gzipSync(`{"m":"${name}2"}`) })));
    expect((await stage(await newStaging(), other)).fingerprint.sha256).not.toBe(fingerprint.sha256);

    const csv = await newStaging();
    const rows = `a,b\n${'1,2\n'.repeat(PART_MAX_RECORDS + 1)}`;
    await stage(csv, '', { slice: memorySlice(rows, { read: { format: 'csv' } }) });
    const parts = await collect(listParts(csv, prefix));
    expect(parts).toHaveLength(2);
    for (const each of parts) {
      expect(String((await loadPart(csv, prefix, each)).header)).toBe('a,b');
    }
  });
});

describe('loading a part', () => {
  it('fails when its object is gone', async () => {
    const staging = await newStaging();
    await stage(staging, '{"a":1}\n');
    const [part] = await collect(listParts(staging, prefix));
    if (!part) throw new Error('no part');
    await staging.remove(partKeys(prefix).body(part));
    await expect(loadPart(staging, prefix, part)).rejects.toThrow(
      /is gone; restore it, or remove both test\/ and _migrations\/test\.json/,
    );
  });
});
