import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { createProgressReader } from '../../src/migrations/status.ts';
import { encodeDocument } from '../../src/state/document.ts';
import { layout, partKeys } from '../../src/state/keys.ts';
import { keepProgressNote } from '../../src/state/progress-note.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-progress-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A real staging that remembers which bodies were asked for; the one note that changes aside. */
function createWatchedStaging(): { staging: Staging; gets: string[] } {
  const real = createFolderStaging(folder);
  const gets: string[] = [];
  return {
    gets,
    staging: {
      ...real,
      get(key) {
        if (key !== layout('shop').oldProgress) gets.push(key);
        return real.get(key);
      },
    },
  };
}

const RECORDS = 7;

async function putPart(staging: Staging, number: number): Promise<void> {
  const id = `0123456789ab/${String(number).padStart(5, '0')}`;
  const description = {
    id,
    fileId: '0123456789ab',
    file: 'export.csv',
    number,
    format: { kind: 'json' },
    records: RECORDS,
    bytes: 70,
    sha256: 'a'.repeat(64),
    etag: 'e',
    firstRecord: number * RECORDS,
  };
  await staging.put(
    partKeys(layout('shop').prefix).body({ id, sha256: description.sha256 }),
    Buffer.from('frames'),
  );
  await staging.put(partKeys(layout('shop').prefix).description(id), encodeDocument(description));
}

async function putReceipt(staging: Staging, number: number): Promise<void> {
  const part = `0123456789ab/${String(number).padStart(5, '0')}`;
  const counts = { read: RECORDS, delivered: RECORDS - 1, skipped: 0, duplicate: 0, rejected: 1 };
  const tally = { counts, events: { sent: 6, accepted: 6 }, byDay: {}, byEvent: {}, byReason: {} };
  const rejectSegments = [`shop/rejects/${part}/1-1-7.ndjson.gz`];
  const receipt = { part, file: 'export.csv', mapping: 'csv@1', tally, rejectSegments };
  await staging.put(layout('shop').receipt(part), encodeDocument(receipt));
}

it('adds up parts and receipts, and reads each of them once however often it looks', async () => {
  const { staging, gets } = createWatchedStaging();
  for (let number = 0; number < 20; number += 1) await putPart(staging, number);
  await putReceipt(staging, 0);
  const read = createProgressReader(staging, 'shop');
  expect(await read()).toEqual({
    parts: { done: 1, staged: 20 },
    records: { staged: 140 },
    counts: { read: 7, delivered: 6, skipped: 0, duplicate: 0, rejected: 1 },
  });
  expect(gets).toHaveLength(21);

  expect((await read()).parts).toEqual({ done: 1, staged: 20 });
  expect(gets).toHaveLength(21);

  await putPart(staging, 20);
  await putReceipt(staging, 1);
  expect(await read()).toMatchObject({
    parts: { done: 2, staged: 21 },
    records: { staged: 147 },
    counts: { read: 14, rejected: 2 },
  });
  expect(gets).toHaveLength(23);
});

it('shows how fast the producer noted that it is, and how long it still takes', async () => {
  const staging = createFolderStaging(folder);
  const counts = { read: 5, delivered: 5, skipped: 0, duplicate: 0, rejected: 0 };
  const run = {
    phase: 'import',
    recordsPerSecond: 200,
    secondsLeft: 90,
    waitingFor: 'Redis: LOADING',
  } as const;
  await keepProgressNote(staging, { name: 'fast', epoch: 1 }, () => ({ ...counts, ...run })).close();
  expect(await createProgressReader(staging, 'fast')()).toMatchObject({ counts, run });
});

it('takes what the producer has noted of parts under way, as long as receipts do not know more', async () => {
  const staging = createFolderStaging(folder);
  const note = (read: number, epoch = 2) => {
    const counts = { read, delivered: read, skipped: 0, duplicate: 0, rejected: 0 };
    return keepProgressNote(staging, { name: 'noted', epoch }, () => counts).close();
  };
  const read = createProgressReader(staging, 'noted');
  expect((await read()).counts.read).toBe(0);
  await note(5);
  expect((await read()).counts).toMatchObject({ read: 5, delivered: 5 });
  await note(6, 1); // by a producer of an older epoch, which slept
  expect((await read()).counts).toMatchObject({ read: 5, delivered: 5 });
  const tally = {
    counts: { read: 7, delivered: 6, skipped: 0, duplicate: 0, rejected: 1 },
    events: { sent: 6, accepted: 6 },
    byDay: {},
    byEvent: {},
    byReason: {},
  };
  const rejectSegments = ['noted/rejects/p/1/1-1-7.ndjson.gz'];
  const receipt = { part: 'p/1', file: 'f', mapping: 'csv@1', tally, rejectSegments };
  await staging.put(layout('noted').receipt('p/1'), encodeDocument(receipt));
  expect((await read()).counts).toMatchObject({ read: 7, rejected: 1 });
});
