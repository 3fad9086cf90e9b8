import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PartMeta } from '../../src/contract/part.ts';
import type { Checkpoint } from '../../src/contract/progress.ts';
import { importPart } from '../../src/pipeline/import-part.ts';
import { toGroup } from '../../src/pipeline/stage/slice-groups.ts';
import { stageRejects } from '../../src/pipeline/stage/stage-rejects.ts';
import { stageSlice } from '../../src/pipeline/stage/stage-slice.ts';
import type { Checkpoints } from '../../src/state/checkpoints.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { listParts, loadFileReceipt } from '../../src/state/parts.ts';
import { findReceiptFault } from '../../src/state/receipts.ts';
import { listOrigins } from '../../src/state/rejects/origins.ts';
import { readRejects } from '../../src/state/rejects/rejects.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { createMapper } from '../sources/create-mapper.ts';
import { memorySlice } from '../sources/formats/memory-file.ts';

/** A part of several files keeps the books of each, and its rejects say where they come from. */
const NAME = 'files';
const never = new AbortController().signal;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-by-file-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const line = (n: number) => JSON.stringify({ n, at: '2023-03-14T09:26:53Z', user: `u-${n}` });
const FILES = {
  a: [line(1), 'not JSON', line(2)],
  b: [line(3), line(3), line(4)],
  c: ['not JSON either', line(5), '{"user":"nobody"}'],
};
const EXPECTED = {
  a: { read: 3, delivered: 2, skipped: 0, duplicate: 0, rejected: 1 },
  b: { read: 3, delivered: 2, skipped: 0, duplicate: 1, rejected: 0 },
  c: { read: 3, delivered: 1, skipped: 0, duplicate: 0, rejected: 2 },
};
const map = createMapper('jsonl', {
  mapping: {
    event: { constant: 'Opened' },
    distinctId: { column: 'user' },
    timestamp: { column: 'at' },
    key: ['n'],
  },
});

async function stageFiles() {
  const staging = createFolderStaging(await mkdtemp(join(folder, 's-')));
  const files = Object.entries(FILES).map(([name, lines]) => memorySlice(`${lines.join('\n')}\n`, { name }));
  const parts: PartMeta[] = [];
  await stageSlice({
    slice: toGroup('0123456789ab', files),
    staging,
    prefix: `${NAME}/`,
    onPart: (part) => void parts.push(part),
    signal: never,
  });
  const [part] = parts;
  if (!part || parts.length > 1) throw new Error('the files were expected in one part');
  return { staging, part };
}

/** Keeps a checkpoint, and fails after so many saves. */
function createCheckpoints(saves = Number.POSITIVE_INFINITY) {
  let kept: Checkpoint | undefined;
  let left = saves;
  const checkpoints: Checkpoints = {
    begin: async (part) => ({ fence: { part, epoch: 1, counter: 1 }, checkpoint: kept }),
    async save(_fence, checkpoint) {
      if (left === 0) throw new Error('stopped');
      left -= 1;
      kept = structuredClone(checkpoint);
    },
    forget: async () => {},
  };
  const goOn = () => {
    left = Number.POSITIVE_INFINITY;
  };
  return { checkpoints, goOn };
}

async function importAll(saves?: number) {
  const { staging, part } = await stageFiles();
  const { checkpoints, goOn } = createCheckpoints(saves);
  const run = () =>
    importPart(
      part,
      {
        checkpoints,
        store: createPartStore(staging, { name: NAME, id: NAME }),
        map,
        mapping: 'jsonl@2',
        batch: { events: 1, bytes: 10_000, eventBytes: 10_000 },
        deliver: async ({ offsets }) => offsets.slice(1).map(() => ({ kind: 'accepted' as const })),
        requestsInFlight: 1,
        onProgress: () => {},
      },
      never,
    );
  if (saves !== undefined) await expect(run()).rejects.toThrow('stopped');
  goOn();
  const receipt = await run();
  const rejects = (
    await Promise.all(receipt.rejectSegments.map((segment) => readRejects(staging, segment)))
  ).flat();
  return { staging, part, receipt, rejects };
}

it('counts by file, wherever the import was stopped', async () => {
  for (const saves of [undefined, 0, 1, 2, 3, 4]) {
    const { receipt } = await importAll(saves);
    expect(receipt.byFile, `stopped after ${saves} saves`).toEqual(EXPECTED);
    expect(receipt.tally.counts).toEqual({ read: 9, delivered: 5, skipped: 0, duplicate: 1, rejected: 3 });
  }
});

it('keeps each reject with its own file and line, and a replay stages them as one slice again', async () => {
  const { staging, rejects } = await importAll();
  const places = ['a:2', 'c:1', 'c:3'];
  expect(rejects.map(({ file, line: at }) => `${file}:${at}`)).toEqual(places);

  const staged = await stageRejects(
    staging,
    { replay: 'replay', token: 'a1' },
    (async function* () {
      yield* rejects;
    })(),
  );
  expect(staged.map(({ name }) => name)).toEqual(['a', 'c']);
  const [slice, ...others] = new Set(staged.map((file) => file.slice));
  expect(others).toEqual([]);
  expect(await loadFileReceipt(staging, 'replay/', slice ?? '')).toMatchObject({
    parts: 1,
    records: 3,
    files: [
      { file: 'a', records: 1 },
      { file: 'c', records: 2 },
    ],
  });
  const records: string[] = [];
  for await (const part of listParts(staging, 'replay/')) {
    const loaded = await createPartStore(staging, { name: 'replay', id: 'replay' }).loadPart(part);
    for (const record of loaded) records.push(`${record.file}:${record.line}`);
  }
  expect(records).toEqual(places);
  for await (const { part, of } of listOrigins(staging, 'replay')) {
    expect(part).toBe(`${slice}/00000`);
    expect(of).toEqual([{ part: rejects[0]?.part, records: rejects.map(({ record }) => record) }]);
    records.pop();
  }
  expect(records).toEqual(places.slice(0, -1)); // one part
});

it('is no receipt to believe where its files count other records', async () => {
  const { part, receipt } = await importAll();
  expect(findReceiptFault(receipt, NAME, part.id)).toBeUndefined();
  const byFile = { ...receipt.byFile, a: { ...EXPECTED.a, delivered: 3, read: 4 } };
  expect(findReceiptFault({ ...receipt, byFile }, NAME, part.id)).toMatch(/by file than in all/);
});
