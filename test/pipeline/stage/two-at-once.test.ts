import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stageFileHandler } from '../../../jobs/stage-file.ts';
import { PART_MAX_RECORDS } from '../../../src/contract/part.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { FencedOutError, SourceError } from '../../../src/lib/errors.ts';
import { type StagedSlice, toGroup } from '../../../src/pipeline/stage/slice-groups.ts';
import { stageSlice } from '../../../src/pipeline/stage/stage-slice.ts';
import { listFileReceipts, listParts, loadPart, StagedMeanwhileError } from '../../../src/state/parts.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

/** A process that slept for long stages the slice that its successor has staged. */
const prefix = 'test/';
const signal = new AbortController().signal;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'backhaul-at-once-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newStaging = async () => createFolderStaging(await mkdtemp(join(root, 's-')));
const stage = (staging: Staging, slice: StagedSlice) => stageSlice({ slice, staging, prefix, signal });
const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `{"f":"${name}","n":${n}}\n`).join('');
const group = (bodies: Readonly<Record<string, string | Buffer>>) =>
  toGroup(
    '0123456789ab',
    Object.entries(bodies).map(([name, body]) => memorySlice(body, { name })),
  );
const file = (body: string | Buffer) => memorySlice(body, { name: 'a.json' });

/** Sleeps once before the first write of a key that matches; `meanwhile` is what happens then. */
function sleepBefore(staging: Staging, key: RegExp, meanwhile: () => Promise<unknown>): Staging {
  let slept = false;
  const sleep = async (at: string) => {
    if (slept || !key.test(at)) return;
    slept = true;
    await meanwhile();
  };
  return {
    ...staging,
    async put(at, body) {
      await sleep(at);
      return staging.put(at, body);
    },
    async create(at, body) {
      await sleep(at);
      return staging.create(at, body);
    },
  };
}

async function readTexts(staging: Staging): Promise<string[]> {
  const texts: string[] = [];
  for await (const part of listParts(staging, prefix))
    for (const record of await loadPart(staging, prefix, part))
      texts.push(record.kind === 'record' ? `${Buffer.from(record.bytes).toString()}\n` : 'too large');
  return texts.sort();
}
const toTexts = (...bodies: string[]) => bodies.flatMap((body) => body.match(/.*\n/g) ?? []).sort();

describe('a slice that two processes stage', () => {
  const body = lines('a', 2 * PART_MAX_RECORDS + 5);
  const cut = gzipSync(lines('b', 400)).subarray(0, -20);
  const broken = { a: lines('a', 3), b: cut };
  const repaired = { a: lines('a', 3), b: gzipSync(lines('b', 400)) };

  it.each([
    ['its first part', /00000/],
    ['the description of a part', /00001\.json/],
    ['its receipt', /\/files\//],
  ])('is staged once, where one slept before it wrote %s', async (_, key) => {
    const staging = await newStaging();
    const sleepy = sleepBefore(staging, key, () => stage(staging, file(body)));
    expect(await stage(sleepy, file(body))).toMatchObject({ parts: 3 });
    expect(await readTexts(staging)).toEqual(toTexts(body));
  });

  it('keeps the receipt of what grew, where the sleeper knows it as it was', async () => {
    const staging = await newStaging();
    // A whole part more, so that what is staged of the shorter file is staged of the longer one too.
    const shorter = lines('a', 2 * PART_MAX_RECORDS);
    const longer = lines('a', 3 * PART_MAX_RECORDS);
    const sleepy = sleepBefore(staging, /\/files\//, () => stage(staging, file(longer)));
    await expect(stage(sleepy, file(shorter))).rejects.toThrow(StagedMeanwhileError);
    const receipts = [];
    for await (const receipt of listFileReceipts(staging, prefix)) receipts.push(receipt);
    expect(receipts).toMatchObject([{ parts: 3, records: 3 * PART_MAX_RECORDS }]);
  });

  it.each([
    ['the body of its part', /00000\..*frames/],
    ['the description of its part', /00000\.json/],
    ['its receipt', /\/files\//],
  ])(
    'keeps every record of a repaired group once, where the sleeper found a file of it broken, before %s',
    async (_, key) => {
      const staging = await newStaging();
      const sleepy = sleepBefore(staging, key, () => stage(staging, group(repaired)));
      await expect(stage(sleepy, group(broken))).rejects.toThrow();
      expect(await stage(staging, group(repaired))).toMatchObject({ records: 403 });
      expect(await readTexts(staging)).toEqual(toTexts(lines('a', 3), lines('b', 400)));
    },
  );

  it('has the receipt of the version that was written last', async () => {
    const staging = await newStaging();
    await expect(stage(staging, group(broken))).rejects.toThrow(SourceError);
    await stage(staging, group(repaired));
    const receipts = [];
    for await (const receipt of listFileReceipts(staging, prefix)) receipts.push(receipt);
    expect(receipts).toMatchObject([{ records: 403, files: [{ file: 'a' }, { file: 'b' }] }]);
    expect(receipts[0]).not.toHaveProperty('broken');
  });

  it('makes the successor look again where the sleeper was faster', async () => {
    const staging = await newStaging();
    const overtaken = sleepBefore(staging, /00000\.json/, () =>
      stage(staging, group(broken)).catch((error: unknown) => expect(error).toBeInstanceOf(SourceError)),
    );
    await expect(stage(overtaken, group(repaired))).rejects.toThrow(StagedMeanwhileError);
    expect(await stage(staging, group(repaired))).toMatchObject({ records: 403 });
    expect(await readTexts(staging)).toEqual(toTexts(lines('a', 3), lines('b', 400)));
  });

  it('takes no part of the sleeper for its own that holds fewer records', async () => {
    const staging = await newStaging();
    const overtaken = sleepBefore(staging, /00000\.json/, async () => {
      const fewer = memorySlice(lines('a', 7), { name: 'a.json' });
      const untilFault: StagedSlice = {
        ...fewer,
        async *readRecords(onBytes) {
          yield* fewer.readRecords(onBytes);
          throw new SourceError('the file is cut off');
        },
      };
      await expect(stage(staging, untilFault)).rejects.toThrow('cut off');
    });
    await expect(stage(overtaken, file(body))).rejects.toThrow(StagedMeanwhileError);
    await stage(staging, file(body));
    expect(await readTexts(staging)).toEqual(toTexts(body));
  });

  it('is left by a job of an older epoch', async () => {
    const staging = await newStaging();
    const fed: string[] = [];
    const run = async (inForce: readonly string[]) => {
      const answers = [...inForce];
      const redis = { hget: async () => answers.shift() ?? inForce.at(-1) } as unknown as Redis;
      const onPart = ({ id }: { id: string }) => void fed.push(id);
      const migration = { name: 'test', id: 'm' };
      const work = stageFileHandler({ staging, redis, migration, files: [file(body)], onPart });
      const { fileId } = file(body);
      const payload = { migration: 'test', id: 'test', epoch: 1, fileId, packing: 'none' } as const;
      return work(payload, { signal, progress: () => {}, log: pino({ level: 'silent' }) });
    };
    await expect(run(['2'])).rejects.toThrow(FencedOutError);
    expect(await readTexts(staging)).toEqual([]);
    await expect(run(['1', '1', '2'])).rejects.toThrow(FencedOutError);
    expect(fed).toHaveLength(1);
    expect(await run(['1'])).toEqual({ kind: 'done' });
    expect(await readTexts(staging)).toEqual(toTexts(body));
  });
});
