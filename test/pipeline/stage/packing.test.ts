import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Packing, PartDescription } from '../../../src/contract/part.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { planSpace } from '../../../src/pipeline/stage/plan-space.ts';
import { toGroup } from '../../../src/pipeline/stage/slice-groups.ts';
import { stageSlice } from '../../../src/pipeline/stage/stage-slice.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { partKeys } from '../../../src/state/keys/parts.ts';
import { loadFrames, loadPart, loadPartDescription } from '../../../src/state/parts.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

const prefix = 'test/';
const body = Array.from({ length: 2_000 }, (_, n) => `{"n":${n},"name":"person ${n % 7}"}\n`).join('');
const slice = memorySlice(body);
const { signal } = new AbortController();
const GIB = 1024 ** 3;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'backhaul-packing-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newStaging = async () => createFolderStaging(await mkdtemp(join(root, 's-')));
const toSha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function stageOne(staging: Staging, packing: Packing, source = slice): Promise<PartDescription> {
  await stageSlice({ slice: source, staging, prefix, packing, signal });
  const part = await loadPartDescription(staging, prefix, `${slice.fileId}/00000`);
  if (!part) throw new Error('no part');
  return part;
}

/** The part as another release would have written it, and its slice not yet staged to its end. */
async function rewrite(
  staging: Staging,
  part: PartDescription,
  object: Buffer,
  of: Partial<PartDescription>,
) {
  const keys = partKeys(prefix);
  await staging.remove(keys.body(part));
  const described = { ...part, ...of };
  await staging.put(keys.body(described), object);
  await staging.put(keys.description(part.id), encodeDocument(described));
  await staging.remove(keys.receipt(part.fileId, 1));
  return described;
}

describe('the packing of parts', () => {
  it.each(['none', 'brotli'] as const)('%s keeps every record, and notices damage', async (packing) => {
    const staging = await newStaging();
    const part = await stageOne(staging, packing);
    const key = partKeys(prefix).body(part);
    const object = (await staging.get(key)) ?? Buffer.alloc(0);
    expect(part).toMatchObject({ packing, sha256: toSha256(object) });
    expect(object.length).toBeLessThanOrEqual(packing === 'none' ? part.bytes : part.bytes / 4);
    const records = [...(await loadPart(staging, prefix, part))];
    const texts = records.map((one) => (one.kind === 'record' ? Buffer.from(one.bytes).toString() : ''));
    expect(`${texts.join('\n')}\n`).toBe(body);

    const flipped = Buffer.from(object);
    flipped[object.length >> 1] = (flipped[object.length >> 1] ?? 0) ^ 1;
    for (const damaged of [flipped, object.subarray(0, -1), Buffer.alloc(0)]) {
      await staging.put(key, damaged);
      await expect(loadPart(staging, prefix, part)).rejects.toThrow(/is damaged: its sha256 is/);
    }
  });

  it('reads parts that an earlier version packed as gzip, and stages them again as they are', async () => {
    const staging = await newStaging();
    const part = await stageOne(staging, 'none');
    const frames = await loadFrames(staging, prefix, part);
    const earlier = { packing: undefined, sha256: toSha256(frames) };
    const old = await rewrite(staging, part, gzipSync(frames, { level: 2 }), earlier);
    const { packing: _, ...described } = old;
    expect(await stageOne(staging, 'none')).toEqual(described);
    expect(await loadFrames(staging, prefix, old)).toEqual(frames);

    const changed = { ...slice, readRecords: memorySlice(body.replace('"n":7', '"n":8')).readRecords };
    await staging.remove(partKeys(prefix).receipt(slice.fileId, 1));
    await expect(stageOne(staging, 'none', changed)).rejects.toThrow(/would hold other records/);
  });

  it('takes a part for the same whose compressor packed it otherwise, and another for a change', async () => {
    const staging = await newStaging();
    const part = await stageOne(staging, 'brotli');
    const frames = await loadFrames(staging, prefix, part);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
    const object = brotliCompressSync(frames, { params });
    const other = await rewrite(staging, part, object, { sha256: toSha256(object) });
    expect(other.sha256).not.toBe(part.sha256);
    expect(await stageOne(staging, 'none')).toEqual(other);

    const foreign = brotliCompressSync(Buffer.from(String(frames).replace('"n":7', '"n":8')), { params });
    await rewrite(staging, part, foreign, { sha256: toSha256(foreign) });
    await expect(stageOne(staging, 'none')).rejects.toThrow(/would hold other records/);
  });
});

describe('the space of parts', () => {
  const plan = (freeBytes: number | undefined, ...files: [name: string, bytes: number][]) =>
    planSpace(
      freeBytes === undefined ? {} : { freeBytes: async () => freeBytes },
      files.map(([name, bytes]) => ({ ...slice, name, bytes })),
    );

  it('is saved where it is not limited but paid for', async () => {
    expect(await plan(undefined, ['a.json.gz', 1_000], ['b.csv', 1_000])).toEqual({
      packing: 'brotli',
      bytes: 1_500,
    });
  });

  it('is ten times that of packed files, where 2 GiB stay free', async () => {
    const freeBytes = 12 * GIB;
    const files: [string, number][] = [
      ['a.json.gz', GIB / 2],
      ['b.zip', GIB / 2],
    ];
    expect(await plan(freeBytes, ...files)).toEqual({ packing: 'none', bytes: 10 * GIB, freeBytes });
    expect(await plan(freeBytes - 1, ...files)).toMatchObject({ packing: 'brotli', bytes: 1.25 * GIB });
  });

  it('is looked for where the folder will be, before there is one', async () => {
    const { freeBytes } = createFolderStaging(join(root, 'later', 'staging'));
    expect(await freeBytes?.()).toBeGreaterThan(0);
    expect(await readdir(root)).not.toContain('later');
  });

  it('is that of plain files with room for their frames', async () => {
    expect(await plan(2 * GIB + 1_250, ['a.json', 1_000])).toMatchObject({ packing: 'none', bytes: 1_250 });
    expect(await plan(2 * GIB + 1_249, ['a.json', 1_000])).toMatchObject({ packing: 'brotli', bytes: 250 });
  });

  it('is that of the files of a group', async () => {
    const files = ['a.json.gz', 'b.json'].map((name) => ({ ...slice, name, bytes: 1_000 }));
    const group = toGroup('0123456789ab', files);
    expect(await planSpace({ freeBytes: async () => 3 * GIB }, [group])).toMatchObject({ bytes: 11_250 });
  });
});
