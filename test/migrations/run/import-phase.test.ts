import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PART_MAX_RECORDS, type PartMeta } from '../../../src/contract/part.ts';
import type { Receipt } from '../../../src/contract/progress.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { createPartFeed, type EpochRun, stageAndImport } from '../../../src/migrations/run/import-phase.ts';
import { StatusBoard } from '../../../src/migrations/run/run-status.ts';
import type { QueuedWork, WorkEvent, WorkQueue } from '../../../src/migrations/run/work-queue.ts';
import { stageSlice } from '../../../src/pipeline/stage/stage-slice.ts';
import { emptyTally } from '../../../src/pipeline/tally.ts';
import type { SourceSlice } from '../../../src/sources/source.ts';
import { listParts } from '../../../src/state/parts.ts';
import { createReceipt } from '../../../src/state/receipts.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

const NAME = 'm';
const body = '{"a":1}\n'.repeat(PART_MAX_RECORDS * 2 + 1);
const never = new AbortController().signal;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-import-phase-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The fleet in memory: each job does what the test says, and may report on the way. */
function createFleet(
  work: Readonly<
    Record<string, (job: QueuedWork, report: (progress: unknown) => void) => Promise<WorkEvent>>
  >,
) {
  const listeners = new Set<(event: WorkEvent) => void>();
  const offered: QueuedWork[] = [];
  const emit = (event: WorkEvent) => {
    for (const listener of listeners) listener(event);
  };
  const queue: WorkQueue = {
    async add(jobs) {
      for (const job of jobs) {
        offered.push(job);
        void work[job.name]?.(job, (progress) => emit({ kind: 'progress', jobId: job.jobId, progress })).then(
          emit,
        );
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    state: async () => ({ kind: 'open' }),
    findHold: async () => undefined,
  };
  return { queue, offered };
}

const done = ({ jobId }: QueuedWork): WorkEvent => ({ kind: 'settled', jobId, state: { kind: 'done' } });

const createStaging = async () => createFolderStaging(await mkdtemp(join(folder, 's-')));

function createRun(queue: WorkQueue, staging: Staging, slices: readonly SourceSlice[]): EpochRun {
  return {
    record: {
      id: NAME,
      name: NAME,
      identity: {},
      identitySha256: '',
      mapping: 'amplitude@1',
      destination: 'bundled API',
      files: slices.map(({ fileId, name, bytes, modified }) => ({ fileId, name, bytes, modified })),
      createdAt: '',
      opening: { manifest: {}, baseDir: '/' },
    },
    epoch: 1,
    staging,
    board: new StatusBoard(() => {}, { budget: undefined, nowMs: () => 0 }),
    begun: new Map(),
    assertVolume: () => {},
    schedulerDeps: {
      queue,
      windowSize: 4,
      makeJobId: ({ id }, generation) => `${id}_${generation}`,
      assertRunning: async () => {},
      assertNotHeld: async () => {},
      signal: never,
    },
  };
}

const toReceipt = (part: string, records: number): Receipt => ({
  part,
  file: 'a file',
  mapping: 'amplitude@1',
  tally: { ...emptyTally(), counts: { ...emptyTally().counts, read: records, skipped: records } },
  rejectSegments: [],
});

const importPart = (staging: Staging) => async (job: QueuedWork) => {
  const { part } = job.payload as { part: PartMeta };
  await createReceipt(staging, NAME, toReceipt(part.id, part.records));
  return done(job);
};

const shared = (name: string): SourceSlice => ({ ...memorySlice(body, { name }), location: 'shared' });

describe('staging and importing', () => {
  it('offers a slice to all workers where it is shared, and a file of its own disk to the producer', async () => {
    const slices = [shared('s3://b/one'), memorySlice('', { name: 'two' })];
    const staging = await createStaging();
    const fleet = createFleet({
      'stage-slice': async (job) => {
        if (slices[0]) await stageSlice({ slice: slices[0], staging, prefix: `${NAME}/`, signal: never });
        return done(job);
      },
      'stage-file': async (job) => done(job),
      'import-part': importPart(staging),
    });
    const run = createRun(fleet.queue, staging, slices);
    const feed = createPartFeed((part) => run.board.addPart(part.records));
    expect(await stageAndImport(run, slices, feed)).toEqual([]);

    const [first, second] = fleet.offered.filter(({ name }) => name.startsWith('stage-'));
    const { readRecords: _, ...plain } = slices[0] ?? shared('');
    expect(first).toMatchObject({
      name: 'stage-slice',
      payload: { migration: NAME, epoch: 1, slice: plain },
    });
    expect(second).toMatchObject({ name: 'stage-file', payload: { fileId: slices[1]?.fileId } });
    expect(Object.keys(second?.payload ?? {})).toEqual(['migration', 'id', 'epoch', 'packing', 'fileId']);
    // Nobody reported on the way: what is staged is read from staging once the job is done.
    expect(run.board.getStatus()).toMatchObject({
      files: { staged: 2, total: 2 },
      parts: { known: 3, done: 3 },
      counts: { read: PART_MAX_RECORDS * 2 + 1 },
    });
  });

  it('imports the parts of a slice while another process is still staging it', async () => {
    const slice = shared('s3://b/long');
    const staging = await createStaging();
    let goOn = () => {};
    const imported = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const fleet = createFleet({
      'stage-slice': async (job, report) => {
        let parts = 0;
        const onPart = async () => {
          parts += 1;
          report({ parts });
          if (parts === 1) await imported; // the job continues only once its first part was imported
        };
        await stageSlice({ slice, staging, prefix: `${NAME}/`, onPart, signal: never });
        return done(job);
      },
      'import-part': async (job) => {
        const end = await importPart(staging)(job);
        goOn();
        return end;
      },
    });
    const run = createRun(fleet.queue, staging, [slice]);
    expect(
      await stageAndImport(
        run,
        [slice],
        createPartFeed(() => {}),
      ),
    ).toEqual([]);
    const parts = fleet.offered.filter(({ name }) => name === 'import-part').map(({ id }) => id);
    expect(parts).toEqual([0, 1, 2].map((number) => `${slice.fileId}/0000${number}`));
  });

  it('offers a slice again whose job is done while staging has no receipt of it', async () => {
    const slice = shared('s3://b/lost');
    const staging = await createStaging();
    let tries = 0;
    const fleet = createFleet({
      'stage-slice': async (job) => {
        tries += 1;
        if (tries === 2) await stageSlice({ slice, staging, prefix: `${NAME}/`, signal: never });
        return done(job);
      },
      'import-part': importPart(staging),
    });
    const run = createRun(fleet.queue, staging, [slice]);
    expect(
      await stageAndImport(
        run,
        [slice],
        createPartFeed(() => {}),
      ),
    ).toEqual([]);
    expect(tries).toBe(2);
    expect(run.board.getStatus().parts.done).toBe(3);
  });

  it('shows a run that is continued from where it was, before any worker has said anything', async () => {
    const slice = shared('s3://b/continued');
    const staging = await createStaging();
    await stageSlice({ slice, staging, prefix: `${NAME}/`, signal: never });
    const ids: string[] = [];
    for await (const { id } of listParts(staging, `${NAME}/`)) ids.push(id);
    const [open = '', , last = ''] = ids;
    // More parts than fit the window precede the one that is done.
    await createReceipt(staging, NAME, toReceipt(last, 1));
    const shown: number[] = [];
    const fleet = createFleet({
      'import-part': async (job) => {
        shown.push(run.board.getStatus().counts.read);
        return importPart(staging)(job);
      },
    });
    const counts = { ...emptyTally().counts, read: 5_000, skipped: 5_000 };
    const run: EpochRun = {
      ...createRun(fleet.queue, staging, [slice]),
      begun: new Map([open, last].map((id) => [id, { ...emptyTally(), counts }])),
    };
    const feed = createPartFeed((part) => run.board.addPart(part.records));
    expect(await stageAndImport(run, [slice], feed)).toEqual([]);
    expect(shown[0]).toBe(5_001);
    expect(run.board.getStatus().counts.read).toBe(2 * PART_MAX_RECORDS + 1);
  });

  it('imports what precedes the fault of a slice that fails for good, and returns the failure', async () => {
    const slice = shared('s3://b/broken');
    const staging = await createStaging();
    const cut: SourceSlice = { ...slice, readRecords: () => firstChunks(slice) };
    const fleet = createFleet({
      'stage-slice': async (job) => {
        const failure = await stageSlice({ slice: cut, staging, prefix: `${NAME}/`, signal: never }).catch(
          (error: unknown) => error,
        );
        return { kind: 'settled', jobId: job.jobId, state: { kind: 'failed', reason: String(failure) } };
      },
      'import-part': importPart(staging),
    });
    const run = createRun(fleet.queue, staging, [slice]);
    const failures = await stageAndImport(
      run,
      [slice],
      createPartFeed(() => {}),
    );
    expect(failures).toMatchObject([
      { work: { name: 'stage-slice' }, reason: expect.stringContaining('cut off') },
    ]);
    const { parts, files } = run.board.getStatus();
    expect(parts.done).toBeGreaterThan(0);
    expect(files.staged).toBe(0);
  });
});

/** The beginning of a slice, and then its fault. */
async function* firstChunks(slice: SourceSlice) {
  for await (const chunk of slice.readRecords()) {
    yield chunk;
    throw new SourceError('s3://b/broken is cut off');
  }
}
