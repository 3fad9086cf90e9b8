import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Staging } from '../../../../src/contract/staging.ts';
import { FactFold } from '../../../../src/identity/fact-fold.ts';
import { ledgerLockKey } from '../../../../src/migrations/persons/lock/ledger-lock.ts';
import type { PersonsRun } from '../../../../src/migrations/run/persons/persons-run.ts';
import { sendPersons } from '../../../../src/migrations/run/persons/send-persons.ts';
import { StatusBoard } from '../../../../src/migrations/run/run-status.ts';
import type { QueuedWork, WorkEvent, WorkQueue } from '../../../../src/migrations/run/work-queue.ts';
import { emptyTally } from '../../../../src/pipeline/tally.ts';
import { encodeDocument } from '../../../../src/state/document.ts';
import { saveFacts } from '../../../../src/state/facts/fact-object.ts';
import { layout } from '../../../../src/state/keys/migration.ts';
import { toRangeKey } from '../../../../src/state/keys/turn.ts';
import { loadTurns, openTurn } from '../../../../src/state/ledger/turns.ts';
import { createMigration } from '../../../../src/state/migrations.ts';
import { createReceipt } from '../../../../src/state/receipts.ts';
import { createFolderStaging } from '../../../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../../../support/redis.ts';

const LEDGER = 'ledger';
const { signal } = new AbortController();
let server: TestRedis;
let redis: Redis;
let folder: string;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = await mkdtemp(join(tmpdir(), 'backhaul-phase-'));
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const toRecord = (name: string) => ({
  id: name,
  name,
  identity: {},
  identitySha256: '',
  mapping: 'amplitude@1',
  destination: 'bundled API',
  files: [],
  createdAt: '',
  opening: { manifest: {}, baseDir: '/' },
});

async function createStaging(name: string): Promise<Staging> {
  const staging = createFolderStaging(await mkdtemp(join(folder, 's-')));
  const fold = new FactFold();
  fold.add({ kind: 'pair', anonId: 'd1', userId: 'u1', time: '2023-01-01T00:00:00.000Z' });
  const findings = await saveFacts(staging, layout(name).findings('f1/00000/1-1-1'), fold);
  const receipt = { part: 'f1/00000', file: 'a', mapping: 'amplitude@1', tally: emptyTally() };
  await createReceipt(staging, name, { ...receipt, rejectSegments: [], findings });
  await createMigration(staging, toRecord(name));
  return staging;
}

/** A queue whose jobs end at once, as the test says. */
function createQueue(end: (work: QueuedWork) => WorkEvent | Promise<WorkEvent>) {
  const offered: string[] = [];
  const listeners = new Set<(event: WorkEvent) => void>();
  const queue: WorkQueue = {
    async add(work) {
      for (const one of work) {
        offered.push(one.name);
        const event = await end(one);
        for (const listener of listeners) listener(event);
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

const createRun = (
  name: string,
  staging: Staging,
  queue: WorkQueue,
  assertRunning: () => Promise<void> = async () => {},
): PersonsRun => ({
  record: toRecord(name),
  epoch: 1,
  staging,
  redis,
  log: pino({ level: 'silent' }),
  now: () => new Date('2024-01-01T00:00:00Z'),
  board: new StatusBoard(() => {}, { budget: undefined, nowMs: () => 0 }),
  begun: new Map(),
  assertVolume: () => {},
  persons: {
    hold: false,
    acceptRefusals: false,
    destination: undefined,
    resolveLedger: () => ({ id: LEDGER, secret: '' }),
  },
  schedulerDeps: {
    queue,
    windowSize: 4,
    makeJobId: (work, generation) => `${work.name}-${work.id}-${generation}`,
    assertRunning,
    assertNotHeld: async () => {},
    signal,
  },
});

const toReceiptKey = (name: string, { name: job, payload }: QueuedWork) => {
  const range = payload as { from: number; to: number; turn: number };
  const keys = layout(name).atTurn(range.turn);
  const folders: Record<string, string> = {
    'resolve-people': keys.resolved,
    'merge-people': keys.merged,
    'fold-people': keys.folded,
  };
  return toRangeKey(folders[job] ?? '', range);
};
const people = { pairs: 0, persons: 0, groups: 0, setAside: {}, setAsideSample: [] };
const RESULT = {
  resolve: { facts: [], merges: [], people },
  send: { people, events: { sent: 0, accepted: 0 }, refused: [] },
};

describe('sending persons', () => {
  it('merges and folds nothing when resolving failed, and the turn continues at the next run', async () => {
    const staging = await createStaging('failing');
    const { queue, offered } = createQueue(({ jobId }) => ({
      kind: 'settled',
      jobId,
      state: { kind: 'failed', reason: 'damaged' },
    }));
    const failures = await sendPersons(createRun('failing', staging, queue));
    expect(failures.map(({ reason }) => reason)).toEqual(['damaged']);
    expect(offered).toEqual(['resolve-people']);
    expect(await loadTurns(staging, LEDGER)).toEqual({ last: 1, known: new Set([1]), ended: new Set() });
    expect(await redis.exists(ledgerLockKey(LEDGER))).toBe(0);

    const again = createQueue(async (work) => {
      const result = work.name === 'resolve-people' ? RESULT.resolve : RESULT.send;
      await staging.create(toReceiptKey('failing', work), encodeDocument(result));
      return { kind: 'settled', jobId: work.jobId, state: { kind: 'done' } };
    });
    expect(await sendPersons(createRun('failing', staging, again.queue))).toEqual([]);
    expect(again.offered).toEqual(['resolve-people', 'merge-people', 'fold-people']);
    expect(await loadTurns(staging, LEDGER)).toEqual({ last: 1, known: new Set([1]), ended: new Set([1]) });
    expect(await sendPersons(createRun('failing', staging, queue))).toEqual([]); // nothing is left to do
  });

  it('offers a range again whose job is done and left no receipt', async () => {
    const staging = await createStaging('forgetful');
    let jobs = 0;
    const { queue, offered } = createQueue(async (work) => {
      jobs += 1;
      const result = work.name === 'resolve-people' ? RESULT.resolve : RESULT.send;
      if (jobs > 1) await staging.create(toReceiptKey('forgetful', work), encodeDocument(result));
      return { kind: 'settled', jobId: work.jobId, state: { kind: 'done' } };
    });
    expect(await sendPersons(createRun('forgetful', staging, queue))).toEqual([]);
    expect(offered).toEqual(['resolve-people', 'resolve-people', 'merge-people', 'fold-people']);
  });

  it('offers the ranges of a new turn under ids that no job of the turn before had', async () => {
    const staging = await createStaging('overtaken');
    const ids: string[] = [];
    const { queue } = createQueue(async (work) => {
      ids.push(work.jobId);
      if (ids.length === 1) {
        await openTurn(staging, LEDGER, { migration: 'm2', name: 'm2', at: '' });
        await redis.del(ledgerLockKey(LEDGER));
        const why = 'the migration does not have the lock of its ledger';
        return { kind: 'settled', jobId: work.jobId, state: { kind: 'handed_back', why } };
      }
      const result = work.name === 'resolve-people' ? RESULT.resolve : RESULT.send;
      await staging.create(toReceiptKey('overtaken', work), encodeDocument(result));
      return { kind: 'settled', jobId: work.jobId, state: { kind: 'done' } };
    });
    expect(await sendPersons(createRun('overtaken', staging, queue))).toEqual([]);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
  });

  it('waits for the migration that has the ledger, and ends when the run must end', async () => {
    const staging = await createStaging('patient');
    const holder = JSON.stringify({ host: 'elsewhere', pid: 1, migration: 'm2', name: 'm2', token: 't' });
    await redis.set(ledgerLockKey(LEDGER), holder);
    const { queue, offered } = createQueue(() => {
      throw new Error('nothing is to be offered');
    });
    const run = createRun('patient', staging, queue, async () => {
      throw new Error('paused meanwhile');
    });
    await expect(sendPersons(run)).rejects.toThrow('paused meanwhile');
    expect(offered).toEqual([]);
    expect(await redis.get(ledgerLockKey(LEDGER))).toBe(holder);
    await redis.del(ledgerLockKey(LEDGER));
  });
});
