import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { cancelMigration, pauseMigration } from '../../src/migrations/control.ts';
import { checkMigration } from '../../src/migrations/doctor.ts';
import { loadStoredManifest } from '../../src/migrations/manifest/stored-manifest.ts';
import { planMigration } from '../../src/migrations/plan.ts';
import { listRejects, showRejects } from '../../src/migrations/rejects/rejects.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { loadStoredReport } from '../../src/migrations/report/report.ts';
import { loadReport } from '../../src/migrations/report.ts';
import { type RunResult, resumeMigration, startMigration } from '../../src/migrations/start.ts';
import type { MigrationStatus } from '../../src/migrations/status/view.ts';
import { loadStatus, watchStatus } from '../../src/migrations/status/watch.ts';
import { createPlanContext, openStore } from '../../src/runtime/open-store.ts';
import { leaseKey, migrationKey } from '../../src/state/checkpoints.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { createMemoryStaging } from '../support/memory-staging.ts';
import { importing, line, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';

let lab: MigrationLab;
let runtime: MigrationLab['runtime'];
let sentBefore = 0;

beforeAll(async () => {
  lab = await openMigrationLab();
  runtime = lab.runtime;
  sentBefore = lab.destination.events().size;
});
afterAll(() => lab?.close());

const show = (result: { readonly kind: string; readonly reason?: string }) => [result.kind, result.reason];

describe('a migration that is started, paused and resumed', () => {
  it('has a result at each of its ends', async () => {
    const loaded = await lab.writeManifest('life');
    const began: string[] = [];
    const stopped = await startMigration(runtime, loaded, {
      ...stageOnly('enough for today'),
      onBegin: (name) => began.push(name),
    });
    expect(show(stopped)).toEqual(['stopped', 'enough for today']);
    expect(began).toEqual(['life']);
    expect(await loadStatus(runtime, 'life')).toMatchObject([
      { migration: 'life', state: 'stopped', reason: 'enough for today', parts: { done: 0, staged: 1 } },
    ]);

    expect(await pauseMigration(runtime, 'life', 'the service is busy')).toMatchObject({
      kind: 'done',
      state: 'paused',
      redisProblem: undefined,
    });
    expect(await startMigration(runtime, loaded, importing())).toEqual({
      kind: 'refused',
      migration: 'life',
      refusal: 'resume_first',
      reason: 'migration "life" is paused (the service is busy)',
    });
    expect(await cancelMigration(runtime, 'life', 'no longer wanted')).toMatchObject({ state: 'cancelled' });
    expect(await startMigration(runtime, loaded, importing())).toMatchObject({
      kind: 'refused',
      reason: 'migration "life" is cancelled (no longer wanted)',
    });
    expect(lab.destination.events().size).toBe(sentBefore);

    const finished = await resumeMigration(runtime, 'life', importing());
    expect(finished).toMatchObject({
      kind: 'finished',
      report: { balanced: true, counts: { read: 3, delivered: 2, rejected: 1 } },
    });
    expect(lab.destination.events().size).toBe(sentBefore + 2);
    expect(await loadReport(runtime, 'life')).toEqual('report' in finished && finished.report);
    expect(await pauseMigration(runtime, 'life', '')).toEqual({
      kind: 'refused',
      refusal: 'nothing_to_pause',
      reason: 'migration "life" is finished; there is nothing to pause',
    });
    expect(await startMigration(runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    expect(lab.destination.events().size).toBe(sentBefore + 2);
  });

  it('is refused to a second run in the same process, and superseded by a higher epoch', async () => {
    const loaded = await lab.writeManifest('twice');
    let running = () => {};
    const isRunning = new Promise<void>((resolve) => {
      running = resolve;
    });
    const first = startMigration(runtime, loaded, {
      signal: new AbortController().signal,
      importHere: false,
      onStatus: ({ parts }) => parts.known === 1 && running(),
    });
    await isRunning;
    expect(await loadStatus(runtime, 'twice')).toMatchObject([{ state: 'running', reason: '' }]);
    expect(await startMigration(runtime, loaded, importing())).toMatchObject({
      kind: 'refused',
      refusal: 'already_running',
    });
    const record = await loadMigration(runtime.staging, 'twice');
    await lab.redis.hset(migrationKey(record?.id ?? ''), 'epoch', 7);
    expect(show(await first)).toEqual([
      'superseded',
      'another process has acquired this migration; this one stops, nothing is lost',
    ]);
    expect(await lab.redis.exists(leaseKey(record?.id ?? ''))).toBe(0);
    expect(await loadStatus(runtime, 'twice')).toMatchObject([
      {
        state: 'interrupted',
        reason: 'no process runs it: the one that did was killed, or could not write why it ended',
      },
    ]);

    // A producer that waits for room in Redis cannot renew its lease.
    await lab.redis.config('SET', 'maxmemory', '1');
    const whileFull = await loadStatus(runtime, 'twice').finally(() =>
      lab.redis.config('SET', 'maxmemory', '0'),
    );
    expect(whileFull).toMatchObject([
      { state: 'unknown', reason: expect.stringContaining('takes no writes') },
    ]);
  });

  it('says that the disk was full, in the room of its progress note', async () => {
    let isFull = true;
    const write = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
      if (!isFull || !/^crowded\/(control\/\d+[2-9]|reports)/.test(key)) return work();

      throw new ConfigError(`folder is full (could not write ${key})`);
    };
    const { staging } = runtime;
    const crowded: Staging = {
      ...staging,
      put: (key, body) => write(key, () => staging.put(key, body)),
      create: (key, body) => write(key, () => staging.create(key, body)),
      async remove(key) {
        if (key.startsWith(layout('crowded').progressNotes)) isFull = false;
        await staging.remove(key);
      },
    };
    const onFullDisk: typeof runtime = Object.create(runtime, { staging: { value: crowded } });
    const loaded = await lab.writeManifest('crowded');
    await expect(startMigration(onFullDisk, loaded, importing())).rejects.toThrow('is full');
    expect(await loadStatus(runtime, 'crowded')).toMatchObject([
      {
        state: 'stopped',
        reason: expect.stringMatching(
          /^folder is full \(could not write crowded\/reports\/0{7}1-[0-9a-f]{8}\.json\)$/,
        ),
      },
    ]);
    expect(await resumeMigration(runtime, 'crowded', importing())).toMatchObject({ kind: 'finished' });
  });

  it('takes edited limits after a pause, which a resume then keeps', async () => {
    const loaded = await lab.writeManifest('edited');
    await startMigration(runtime, loaded, stageOnly(''));
    await pauseMigration(runtime, 'edited', 'too fast');
    expect(await startMigration(runtime, loaded, importing())).toMatchObject({ refusal: 'resume_first' });
    const slower = await lab.writeManifest('edited', { limits: { eventsPerMinute: 600 } });
    expect(await startMigration(runtime, slower, stageOnly('for now'))).toMatchObject({ reason: 'for now' });
    const stored = await loadStoredManifest(runtime.staging, 'edited');
    expect(stored.manifest.limits.eventsPerMinute).toBe(600);
    expect(await resumeMigration(runtime, 'edited', importing())).toMatchObject({ kind: 'finished' });
    expect((await loadStoredManifest(runtime.staging, 'edited')).manifest).toEqual(slower.manifest);

    // A cancelled one is no longer wanted, whatever is edited.
    const other = await lab.writeManifest('edited-late');
    await startMigration(runtime, other, stageOnly(''));
    await cancelMigration(runtime, 'edited-late', 'no');
    const late = await lab.writeManifest('edited-late', { limits: { eventsPerMinute: 600 } });
    expect(await startMigration(runtime, late, importing())).toMatchObject({ refusal: 'resume_first' });
  });

  it('ends as held when it is paused while it runs', async () => {
    const loaded = await lab.writeManifest('held');
    let paused: Promise<unknown> | undefined;
    const result = await startMigration(runtime, loaded, {
      signal: new AbortController().signal,
      importHere: false,
      onStatus: ({ parts }) => {
        if (parts.known === 1) paused ??= pauseMigration(runtime, 'held', 'lunch');
      },
    });
    await paused;
    expect(result).toEqual({ kind: 'held', migration: 'held', state: 'paused', reason: 'lunch' });
  });
});

describe('other ends of a run', () => {
  it('is the advice for a record that is gone, whatever control still says', async () => {
    const loaded = await lab.writeManifest('lost');
    await startMigration(runtime, loaded, stageOnly(''));
    await pauseMigration(runtime, 'lost', 'lunch');
    await runtime.staging.remove('_migrations/lost.json');
    await expect(startMigration(runtime, loaded, importing())).rejects.toThrow(
      'no migration "lost" (_migrations/lost.json is missing)',
    );
  });

  it('is a run where a process of a removed migration left its note of progress late', async () => {
    const loaded = await lab.writeManifest('noted');
    await runtime.staging.put('noted/progress/00000001-12d6131e.json', Buffer.from('{}'));
    expect(await startMigration(runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    const before = await lab.writeManifest('before');
    await runtime.staging.put('before/progress/00000001.json', Buffer.from('{}'));
    await expect(startMigration(runtime, before, importing())).rejects.toThrow('but no migration "before"');
  });

  it('is no such advice where another process has begun the migration since', async () => {
    const loaded = await lab.writeManifest('race');
    const { staging } = runtime;
    let begun: Promise<unknown> | undefined;
    const late: Staging = Object.assign(Object.create(staging), {
      async *list(prefix: string) {
        if (prefix === 'race/') begun ??= startMigration(runtime, loaded, stageOnly(''));
        await begun;
        yield* staging.list(prefix);
      },
    });
    await expect(startMigration({ ...runtime, staging: late }, loaded, importing())).rejects.toThrow(
      'migration "race" was started by another process this very moment; run the command again',
    );
    expect(begun).toBeDefined();
  });

  it('are too many rejects, and a missing approval before anything exists', async () => {
    const strict = await lab.writeManifest('strict', { rejects: { failAbove: 0 } });
    const result: RunResult = await startMigration(runtime, strict, importing());
    expect(result).toMatchObject({ kind: 'rejects_above_threshold', report: { counts: { rejected: 1 } } });

    const fast = await lab.writeManifest('fast', { limits: { eventsPerMinute: 60_000 } });
    expect(await startMigration(runtime, fast, importing())).toMatchObject({
      kind: 'approval_needed',
      reason: expect.stringContaining('Target area: Data Management'),
    });
    expect(await loadMigration(runtime.staging, 'fast')).toBeUndefined();
  });

  it('is a refusal with the names there are, for one that does not exist', async () => {
    const refused = { kind: 'refused', refusal: 'no_such_migration' };
    expect(await resumeMigration(runtime, 'nobody', importing())).toMatchObject(refused);
    expect(await cancelMigration(runtime, 'nobody', '')).toMatchObject({
      ...refused,
      reason: expect.stringContaining('there is no migration "nobody" in '),
    });
    await expect(loadReport(runtime, 'nobody')).rejects.toThrow('there are: ');
  });
});

describe('the rejects of a migration', () => {
  it('are listed, shown up to a limit, and replayed with a corrected manifest', async () => {
    const loaded = await lab.writeManifest('picky');
    await startMigration(runtime, loaded, importing());
    const store = await openStore(lab.settings);
    expect(await listRejects(store, 'picky')).toMatchObject({
      reasons: [{ reason: 'bad_timestamp', count: 1, left: 1 }],
      replays: [],
    });
    const texts: (string | undefined)[] = [];
    const options = { onReject: ({ text }: { text?: string | undefined }) => texts.push(text) };
    expect(await showRejects(store, 'picky', { ...options, limit: 1 })).toEqual({ shown: 1, more: false });
    expect(texts).toEqual([line('picky-3', 'yesterday')]);
    expect(await showRejects(store, 'picky', { ...options, limit: 1, reason: 'no_identity' })).toEqual({
      shown: 0,
      more: false,
    });

    const began: string[] = [];
    const onBegin = (name: string) => began.push(name);
    const none = await replayRejects(
      runtime,
      'picky',
      { loaded, reason: 'no_identity' },
      importing({ onBegin }),
    );
    expect(none).toEqual({ kind: 'nothing_to_replay', migration: 'picky', replays: [] });
    const replayed = await replayRejects(runtime, 'picky', { loaded }, importing({ onBegin }));
    expect(replayed).toMatchObject({ migration: 'picky.replay-1', report: { counts: { read: 1 } } });
    expect(began).toEqual(['picky.replay-1']);

    const everything = { loaded, again: true };
    // Another process chose the same name, and slept until this one was done.
    const sleepy: typeof runtime = Object.create(runtime, {
      staging: {
        value: {
          ...runtime.staging,
          async create(key: string, body: Uint8Array) {
            if (key === '_migrations/picky.replay-2.json')
              await replayRejects(runtime, 'picky', everything, importing());
            return runtime.staging.create(key, body);
          },
        },
      },
    });
    await expect(replayRejects(sleepy, 'picky', everything, importing())).rejects.toThrow(
      '"picky.replay-2" was started by another process this very moment',
    );
    expect(await loadStoredReport(runtime.staging, 'picky.replay-2')).toMatchObject({ balanced: true });
    expect(await listRejects(store, 'picky.replay-2')).toMatchObject({ reasons: [{ count: 1 }] });

    // Events of a replay of a replay name the migration that one filter is for.
    const again = await replayRejects(runtime, 'picky.replay-1', { loaded }, importing());
    expect(again).toMatchObject({ report: { counts: { read: 1 } } });
    const record = await loadMigration(runtime.staging, again.migration);
    expect(record).toMatchObject({ replays: 'picky.replay-1', stampedAs: 'picky' });
  });
});

describe('what needs no runtime', () => {
  it('is a plan, with its full pass, which leaves nothing in staging', async () => {
    const loaded = await lab.writeManifest('planned');
    const read: number[] = [];
    const full = {
      env: lab.env,
      signal: new AbortController().signal,
      onProgress: (records: number) => read.push(records),
    };
    const result = await planMigration(createPlanContext(lab.settings), loaded, {
      recordsPerFile: 500,
      full,
    });
    expect(result).toMatchObject({
      kind: 'planned',
      refusal: undefined,
      plan: { records: { count: 3, exact: true } },
      full: { counts: { read: 3, delivered: 2, rejected: 1 } },
    });
    expect(read.at(-1)).toBe(3);
    const left = [];
    for await (const { key } of runtime.staging.list('_plans/')) left.push(key);
    expect(left).toEqual([]);
    const stopped = { env: lab.env, signal: AbortSignal.abort(new Error('not now')) };
    expect(
      await planMigration(createPlanContext(lab.settings), loaded, { recordsPerFile: 500, full: stopped }),
    ).toEqual({ kind: 'stopped', reason: 'not now' });
  });

  it('is a check of staging, manifest, source and destination, after those of the machine', async () => {
    const { path } = await lab.writeManifest('checked', { destination: undefined });
    const machine = [
      { name: 'good', look: async () => 'fine' },
      {
        name: 'bad',
        look: async () => {
          throw new Error('make room');
        },
      },
    ];
    let runs = false;
    const context = {
      ...createPlanContext(lab.settings),
      env: lab.env,
      machine,
      isBundledRunning: async () => runs,
    };
    const { healthy, checks } = await checkMigration(context, path);
    expect(healthy).toBe(false);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ['good', true],
      ['bad', false],
      ['staging', true],
      ['manifest', true],
      ['source', true],
      ['destination', true],
    ]);
    expect(checks[1]?.detail).toBe('make room');
    expect(checks.at(-1)?.detail).toBe('the bundled API, started for the run');
    runs = true;
    expect((await checkMigration(context, path)).checks.at(-1)?.detail).toBe(
      'the bundled API, which runs already',
    );
  });

  it('is a staging that does not list, or may not be listed', async () => {
    const doctor = async (list: Staging['list']) => {
      const staging = { ...createMemoryStaging(), list };
      const openStaging = async () => staging;
      const plan = { ...createPlanContext(lab.settings), env: lab.env };
      const context = { ...plan, openStaging, machine: [], isBundledRunning: async () => false };
      return (await checkMigration(context, undefined)).checks;
    };
    expect(await doctor(async function* () {})).toMatchObject([
      { name: 'staging', ok: false, detail: expect.stringContaining('does not list what was put there') },
    ]);
    const refuse: Staging['list'] = (prefix) => {
      throw new ConfigError(`refuses this access key (could not list ${prefix})`);
    };
    expect(await doctor(refuse)).toMatchObject([
      {
        name: 'staging',
        ok: false,
        detail: expect.stringMatching(/^refuses this access key \(could not list _doctor\//),
      },
    ]);
  });

  it('is the status of all, watched until none of them runs', async () => {
    const seen: MigrationStatus[][] = [];
    const store = await openStore(lab.settings);
    await watchStatus(store, undefined, {
      signal: new AbortController().signal,
      onStatus: (all) => seen.push(all),
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.map(({ migration, state }) => `${migration} ${state}`)).toContain('life finished');
  });

  it('is a pause that does not reach Redis, which holds in staging', async () => {
    const loaded = await lab.writeManifest('apart');
    await startMigration(runtime, loaded, stageOnly(''));
    const store = await openStore(lab.settings);
    const at = new Date('2024-01-01T00:00:00Z');
    const broken = {
      ...store,
      now: () => at,
      askRedis: async () => {
        throw new Error('Redis cannot be used');
      },
    };
    expect(await pauseMigration(broken, 'apart', 'for now')).toEqual({
      kind: 'done',
      state: 'paused',
      at: at.toISOString(),
      redisProblem: 'Redis cannot be used',
    });
    expect(await loadStatus(broken, 'apart')).toMatchObject([{ state: 'paused', reason: 'for now' }]);
  });
});
