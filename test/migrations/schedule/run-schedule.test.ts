import { renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StopError, UnableError } from '../../../src/lib/errors.ts';
import { pauseMigration } from '../../../src/migrations/control.ts';
import { applyEvent, requireMigration } from '../../../src/migrations/life-store.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { assertNotRemoved } from '../../../src/migrations/prepare/prepare.ts';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { sweepFinished } from '../../../src/migrations/remove/sweep.ts';
import { loadCoverage } from '../../../src/migrations/schedule/coverage.ts';
import { describeWait } from '../../../src/migrations/schedule/describe-wait.ts';
import { runSchedule } from '../../../src/migrations/schedule/run-schedule.ts';
import {
  listSchedules,
  loadScheduleView,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  setSchedule,
} from '../../../src/migrations/schedule/schedules.ts';
import { startMigration } from '../../../src/migrations/start.ts';
import { loadStatus } from '../../../src/migrations/status/watch.ts';
import { startRuntimeSchedules } from '../../../src/runtime/queues.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import { leaseKey } from '../../../src/state/checkpoints.ts';
import { loadLatestEpochNumber } from '../../../src/state/epochs.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { loadMigration } from '../../../src/state/migrations.ts';
import { loadLastRun } from '../../../src/state/schedules/runs.ts';
import {
  importing,
  line,
  type MigrationLab,
  openMigrationLab,
  stageOnly,
} from '../../support/migration-lab.ts';
import { until } from '../../support/until.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const DAY_MS = 24 * 3_600_000;
const daily = { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 1 };
/** A schedule that was set at noon of a day after the files of this test were written. */
const NOON = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS + DAY_MS / 2;
const at = (days: number, hours = 0) => new Date(NOON + days * DAY_MS + hours * 3_600_000);

/** The lab at a time of its own. */
function createClock() {
  let now = at(0);
  const runtime: Runtime = { ...lab.runtime, now: () => now };
  return {
    runtime,
    to(days: number, hours?: number) {
      now = at(days, hours);
    },
  };
}

const options = (more: object = {}) => ({ signal: new AbortController().signal, importHere: true, ...more });

async function schedule(name: string, more: object = {}) {
  const clock = createClock();
  const loaded = await lab.writeManifest(name, more);
  await setSchedule(clock.runtime, loaded, daily);
  return { ...clock, loaded, run: (given?: object) => runSchedule(clock.runtime, name, options(given)) };
}

/** The runtime of a process to which something happens just before it creates a migration. */
function beforeRecord(runtime: Runtime, name: string, act: () => Promise<unknown>): Runtime {
  const { record } = layout(name);
  const { staging } = runtime;
  const late: Runtime['staging'] = Object.assign(Object.create(staging), {
    async create(key: string, body: Buffer) {
      if (key === record) await act();
      return staging.create(key, body);
    },
  });
  return { ...runtime, staging: late };
}

const dayOf = (name: string, day: number) =>
  [1, 2].map((n) => line(`${name}-${day}-${n}`, `2024-02-1${day}T04:05:06Z`));

describe('a schedule', () => {
  it('catches up days on which nothing ran, without gaps or repeats, late files included', async () => {
    const { runtime, to, run } = await schedule('missed');
    expect(await run()).toEqual({ kind: 'not_due' });
    expect(await loadCoverage(runtime, 'missed')).toMatchObject({
      days: [],
      schedule: { next: at(1, -6).toISOString() },
    });
    await expect(loadCoverage(runtime, 'misspelled')).rejects.toThrow('there is no migration "misspelled"');
    to(1);
    lab.writeFile('missed', 'day-4.json', dayOf('missed', 4));
    expect(await run()).toMatchObject({
      kind: 'ran',
      run: {
        outcome: 'done',
        reason: '',
        files: 2,
        missed: 0,
        failures: 0,
        due: at(1, -6).toISOString(),
      },
    });
    expect(await run()).toEqual({ kind: 'not_due' });

    // For three days no process was there; day 5 never came, and day 3 came late.
    const before = lab.destination.events().size;
    for (const day of [6, 3, 7]) lab.writeFile('missed', `day-${day}.json`, dayOf('missed', day));
    to(5);
    expect((await loadScheduleView(runtime, 'missed'))?.overdueSince).toBe(at(2, -6).toISOString());
    expect(await run()).toMatchObject({ run: { outcome: 'done', reason: '', files: 3, missed: 3 } });
    expect(lab.destination.events().size).toBe(before + 6);
    expect(await run()).toEqual({ kind: 'not_due' });

    expect(await loadCoverage(runtime, 'missed')).toMatchObject({
      days: [
        { day: '2024-02-03', counts: { delivered: 2 }, late: 0 },
        { day: '2024-02-13', late: 2 },
        { day: '2024-02-14', late: 0, counts: { read: 2 } },
        { day: '2024-02-16', late: 0 },
        { day: '2024-02-17', late: 0 },
      ],
      missing: [
        { from: '2024-02-04', to: '2024-02-12' },
        { from: '2024-02-15', to: '2024-02-15' },
      ],
      undated: 1,
    });
  });

  it('does nothing to a migration where nothing is new', async () => {
    const { runtime, to, run } = await schedule('quiet');
    to(1);
    await run();
    const epoch = await loadLatestEpochNumber(runtime.staging, 'quiet');
    const requests = lab.destination.requests.length;
    to(2);
    expect(await run()).toMatchObject({ run: { outcome: 'nothing_new', files: 0 } });
    expect(await loadLatestEpochNumber(runtime.staging, 'quiet')).toBe(epoch);
    expect(lab.destination.requests).toHaveLength(requests);
  });

  it('says what to do where files are rotated, and takes in what is new once that is done', async () => {
    const { to, run } = await schedule('rotated');
    to(1);
    await run();
    const inFolder = (file: string) => join(lab.workplace.folder, 'rotated', file);
    renameSync(inFolder('a.json'), inFolder('a.old.json'));
    lab.writeFile('rotated', 'a.json', dayOf('rotated', 1));
    to(2);
    expect(await run()).toMatchObject({
      run: {
        outcome: 'failed',
        reason: expect.stringMatching(
          /rotated\/a\.json had .*: files were rotated, and what was staged is .*a\.old\.json now\. Give what is .*a\.json now a name that it keeps/,
        ),
      },
    });
    renameSync(inFolder('a.json'), inFolder('a-2024-02-11.json'));
    to(3);
    expect(await run()).toMatchObject({
      run: { outcome: 'done', files: 1 },
      result: { report: { balanced: true, counts: { read: 5, delivered: 4 } } },
    });
  });

  it('leaves a file that may still be written to the next run', async () => {
    const { runtime, to, run } = await schedule('written');
    const touch = (file: string, time: Date) =>
      utimesSync(join(lab.workplace.folder, 'written', file), time, time);
    to(1);
    touch('a.json', new Date(at(1).getTime() - 59_000));
    expect(await run()).toMatchObject({ run: { outcome: 'nothing_new' } });
    expect(await loadStatus(runtime)).not.toContainEqual(expect.objectContaining({ migration: 'written' }));
    to(2);
    lab.writeFile('written', 'b.json', dayOf('written', 1));
    touch('b.json', new Date(at(2).getTime() - 30_000));
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 1 } });
    to(3);
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 1 } });
    expect(await loadStatus(runtime, 'written')).toMatchObject([{ counts: { read: 5 } }]);
  });

  it('takes in a file whose time of change lies in the future once it was the same twice, and names it until then', async () => {
    const { runtime, to, run } = await schedule('ahead');
    const write = (lines: readonly string[]) => {
      lab.writeFile('ahead', 'b.json', lines);
      utimesSync(join(lab.workplace.folder, 'ahead', 'b.json'), at(365), at(365));
    };
    write(dayOf('ahead', 1));
    const waiting = { files: 1, ahead: 1, names: ['ahead/b.json'] };
    to(1);
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 1, waiting } });
    expect(await loadCoverage(runtime, 'ahead')).toMatchObject({ waiting });
    expect(await loadScheduleView(runtime, 'ahead')).toMatchObject({ lastRun: { waiting } });

    // It is written still; and a run that finds another process at work does not look at all.
    write([...dayOf('ahead', 1), line('ahead-more')]);
    to(2);
    expect(await run()).toMatchObject({ run: { outcome: 'nothing_new', waiting } });
    const key = leaseKey((await loadMigration(runtime.staging, 'ahead'))?.id ?? '');
    await lab.redis.set(key, 'another', 'EX', 60);
    to(3);
    expect(await run()).toMatchObject({ run: { outcome: 'busy' } });
    await lab.redis.del(key);
    // Within the lag of the look that saw it so.
    to(2, 0.01);
    expect(await run({ now: true })).toMatchObject({ run: { outcome: 'nothing_new', waiting } });

    to(4);
    const { run: last } = (await run()) as { run: object };
    expect(last).toMatchObject({ outcome: 'done', files: 1 });
    expect(last).not.toHaveProperty('waiting');
    expect(last).not.toHaveProperty('ahead');
    expect(await loadCoverage(runtime, 'ahead')).not.toHaveProperty('waiting');
    expect(await loadStatus(runtime, 'ahead')).toMatchObject([{ counts: { read: 6 } }]);
  });

  it('begins with a file whose time of change lies in the future, where there is no other', async () => {
    const { runtime, to, run } = await schedule('ahead-alone');
    utimesSync(join(lab.workplace.folder, 'ahead-alone', 'a.json'), at(365), at(365));
    to(1);
    expect(await run()).toMatchObject({ run: { outcome: 'nothing_new', waiting: { ahead: 1 } } });
    const [waiting] = (await listSchedules(runtime)).filter(({ migration }) => migration === 'ahead-alone');
    expect(waiting && describeWait(waiting, (iso) => iso)).toContain(
      'took in nothing: 1 file waits for a later run, as it may still be written: ahead-alone/a.json (its time of change lies in the future)',
    );
    to(2);
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 1 } });
  });

  it('of a folder that is empty at first fails no run, and takes what comes', async () => {
    const { runtime, to, run, loaded } = await schedule('empty');
    const file = join(lab.workplace.folder, 'empty', 'a.json');
    renameSync(file, `${file}.later`);
    for (const day of [1, 2]) {
      to(day);
      expect(await run()).toMatchObject({
        run: { outcome: 'nothing_new', failures: 0, reason: 'the source holds nothing yet' },
      });
    }
    expect(await loadMigration(runtime.staging, 'empty')).toBeUndefined();
    renameSync(`${file}.later`, file);
    to(3);
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 1 } });

    // Emptied behind the import: what is in stays in.
    rmSync(file);
    to(4);
    expect(await run()).toMatchObject({ run: { outcome: 'nothing_new', failures: 0 } });
    // A folder that is not there is misspelt or not mounted, whether there was an import or not.
    rmSync(join(lab.workplace.folder, 'empty'), { recursive: true });
    const elsewhere = { ...loaded.manifest, name: 'nowhere' };
    await setSchedule(runtime, { ...loaded, manifest: elsewhere }, { ...daily, cron: '0 7 * * *' });
    to(5);
    for (const name of ['empty', 'nowhere'])
      expect(await runSchedule(runtime, name, options())).toMatchObject({
        run: { outcome: 'failed', failures: 1, reason: expect.stringContaining('matches no file') },
      });
  });

  it('takes what is new in one place while another one is empty', async () => {
    const { to, run } = await schedule('places', {
      source: {
        ...(await lab.writeManifest('places')).manifest.source,
        from: ['places/*.json', 'places-2/*.json'],
      },
    });
    lab.writeFile('places-2', 'b.json', dayOf('places', 1));
    to(1);
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 2 } });
    rmSync(join(lab.workplace.folder, 'places', 'a.json'));
    lab.writeFile('places-2', 'c.json', dayOf('places', 2));
    to(2);
    expect(await run()).toMatchObject({ run: { outcome: 'done', files: 1 } });
  });

  it('fails where a file is gone that was entered and never staged', async () => {
    const { to, run, loaded } = await schedule('unstaged');
    to(1);
    await run();
    lab.writeFile('unstaged', 'b.json', dayOf('unstaged', 1));
    const stop = new AbortController();
    const onBegin = () => stop.abort(new Error('killed'));
    const { runtime } = lab;
    await startMigration(runtime, loaded, importing({ topUp: true, signal: stop.signal, onBegin }));
    for (const file of ['a.json', 'b.json']) rmSync(join(lab.workplace.folder, 'unstaged', file));
    to(2);
    expect(await run()).toMatchObject({
      run: { outcome: 'failed', reason: expect.stringContaining('b.json is gone, and was not staged') },
    });
  });

  it('continues what a producer entered before it was killed', async () => {
    const { runtime, to, run, loaded } = await schedule('entered');
    to(1);
    await run();
    lab.writeFile('entered', 'b.json', dayOf('entered', 1));
    const stop = new AbortController();
    const onBegin = () => stop.abort(new Error('killed'));
    await startMigration(runtime, loaded, importing({ topUp: true, signal: stop.signal, onBegin }));
    to(2);
    expect(await run()).toMatchObject({
      run: { outcome: 'done', files: 0, reason: 'continued what an earlier run had begun' },
    });
    expect(await loadStatus(runtime, 'entered')).toMatchObject([{ counts: { read: 5 } }]);
  });

  it('keeps away from a migration that another process runs, and from one that an operator paused', async () => {
    const { runtime, to, run, loaded } = await schedule('busy');
    const first = new AbortController();
    let running: Promise<unknown> = Promise.resolve();
    await new Promise<void>((resolve) => {
      const onStatus = () => resolve();
      running = startMigration(runtime, loaded, { signal: first.signal, importHere: false, onStatus });
    });
    lab.writeFile('busy', 'b.json', dayOf('busy', 1));
    // What is under way is kept when it ends, so its own time is no missed one.
    to(2);
    expect(await run()).toMatchObject({ run: { outcome: 'busy', files: 0, missed: 0 } });
    first.abort(new Error('enough'));
    await running.catch(() => {});

    const held = await schedule('held');
    await startMigration(held.runtime, held.loaded, stageOnly('enough'));
    expect((await loadScheduleView(held.runtime, 'held'))?.held).toBeUndefined();
    await pauseMigration(held.runtime, 'held', 'lunch');
    expect(await loadScheduleView(held.runtime, 'held')).toMatchObject({ state: 'active', held: 'paused' });
    held.to(1);
    expect(await held.run()).toMatchObject({
      run: { outcome: 'held', failures: 0, reason: 'migration "held" is paused (lunch)' },
    });
  });

  it('leaves a migration alone that an operator begins at the very moment of its first run', async () => {
    const { runtime, to, loaded } = await schedule('raced');
    to(1);
    const begin = () => startMigration(runtime, loaded, stageOnly('enough'));
    expect(await runSchedule(beforeRecord(runtime, 'raced', begin), 'raced', options())).toMatchObject({
      run: { outcome: 'busy', failures: 0, reason: expect.stringContaining('another process runs') },
    });
  });

  it('that is run now is shown as running, and not as due', async () => {
    const { runtime, to } = await schedule('shown');
    to(1);
    const due = { overdueSince: at(1, -6).toISOString() };
    expect(await loadScheduleView(runtime, 'shown')).toMatchObject(due);
    let seen: string | undefined;
    const look = async () => {
      seen = (await loadScheduleView(runtime, 'shown'))?.runningSince;
    };
    await runSchedule(beforeRecord(runtime, 'shown', look), 'shown', options());
    expect(seen).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect((await loadScheduleView(runtime, 'shown'))?.runningSince).toBeUndefined();
  });

  it('counts failures in a row, and the next run begins all the same', async () => {
    const { runtime, to, run } = await schedule('failing');
    to(1);
    await run();
    const repaired = [line('failing-1'), line('failing-2'), line('failing-3', 'yesterday')];
    lab.writeFile('failing', 'a.json', [...repaired, line('failing-4')]);
    let day = 1;
    for (const failures of [1, 2, 3]) {
      day += 1;
      to(day);
      expect(await run()).toMatchObject({
        run: {
          outcome: 'failed',
          failures,
          succeededAt: at(1).toISOString(),
          reason: expect.stringContaining('failing/a.json had'),
        },
        result: undefined,
      });
      if (failures > 1) continue;
      // A time at which another process is at work is no failure, and does not end the row.
      const lease = leaseKey((await loadMigration(runtime.staging, 'failing'))?.id ?? '');
      await runtime.redis.set(lease, 'another process');
      day += 1;
      to(day);
      expect(await run()).toMatchObject({ run: { outcome: 'busy', failures } });
      await runtime.redis.del(lease);
    }
    lab.writeFile('failing', 'a.json', repaired);
    to(day + 1);
    expect(await run()).toMatchObject({
      run: { outcome: 'nothing_new', failures: 0, succeededAt: at(day + 1).toISOString() },
    });
    expect(await loadScheduleView(runtime, 'failing')).toMatchObject({ reason: '' });
  });

  it('is run by one of several that begin at once, and nothing fails', async () => {
    const { runtime, to } = await schedule('rush');
    to(3);
    const begin = () => runSchedule(runtime, 'rush', options());
    const kinds = (await Promise.all([begin(), begin(), begin(), begin()])).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'ran')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'under_way' || kind === 'not_due')).toHaveLength(3);
    expect(await loadScheduleView(runtime, 'rush')).toMatchObject({
      lastRun: { outcome: 'done', missed: 2, failures: 0 },
    });
    expect(await loadLastRun(runtime.staging, 'rush')).toMatchObject({ number: 1 });
  });

  it('that is stopped is due still', async () => {
    const { runtime, to, run } = await schedule('stopped');
    to(1);
    const stop = new AbortController();
    // Once it has begun, so that it is kept.
    const onStatus = () => stop.abort(new StopError('SIGTERM; continue with: PATH=/ backhaul', 'saved'));
    expect(await run({ signal: stop.signal, onStatus })).toEqual({
      kind: 'stopped',
      reason: 'SIGTERM; continue with: PATH=/ backhaul',
    });
    expect(await loadStatus(runtime, 'stopped')).toMatchObject([{ state: 'stopped', reason: 'saved' }]);
    expect(await run()).toMatchObject({ run: { outcome: 'done' } });
  });

  it('is left to others by a process without its key or folder', async () => {
    const { runtime, to } = await schedule('keyless');
    to(1);
    await expect(runSchedule({ ...runtime, env: {} }, 'keyless', options())).rejects.toThrow(UnableError);
    const { manifest } = await lab.writeManifest('keyless');
    await setSchedule(runtime, { manifest, baseDir: '/nowhere/at/all' }, daily);
    await expect(runSchedule(runtime, 'keyless', options())).rejects.toThrow(/nowhere\/at\/all/);
    expect((await loadScheduleView(runtime, 'keyless'))?.lastRun).toMatchObject({
      outcome: 'unable',
      reason: expect.stringContaining('/nowhere/at/all, which is not there'),
    });
  });

  it('that no process has the key of says so, is due since its first moment, and is one run in the end', async () => {
    const { runtime, to, run } = await schedule('nokey');
    const keyless = { ...runtime, env: {} };
    const reason = 'no process has its key: set KEY in serve or the workers';
    const attempt = () => runSchedule(keyless, 'nokey', options());
    to(1, -6);
    await expect(attempt()).rejects.toThrow(
      'no key for the schedule of migration "nokey": the variable KEY is not set',
    );
    // Another process may be about to take it.
    expect((await loadScheduleView(runtime, 'nokey'))?.lastRun).toBeUndefined();
    for (const days of [1, 4]) {
      to(days);
      await expect(attempt()).rejects.toThrow(UnableError);
      const view = await loadScheduleView(runtime, 'nokey');
      expect(view).toMatchObject({
        overdueSince: at(1, -6).toISOString(),
        reason,
        lastRun: {
          outcome: 'unable',
          missed: 1,
          due: at(1, -6).toISOString(),
          endedAt: at(1).toISOString(),
        },
      });
      const { schedule: waiting } = await loadCoverage(runtime, 'nokey');
      expect(waiting && describeWait(waiting, (iso) => iso)).toContain(reason);
    }
    await expect(runSchedule(keyless, 'nokey', options({ now: true }))).rejects.toThrow('set KEY');
    const said: unknown[] = [];
    const warn = (...line: unknown[]) => said.push(line);
    const log: Runtime['log'] = Object.assign(Object.create(runtime.log), { warn });
    const schedules = await startRuntimeSchedules({ ...keyless, log }, { importHere: true });
    await until('the warning', () => said.length || undefined);
    await schedules.close();
    expect(said[0]).toEqual([
      {
        migration: expect.any(String),
        reason: expect.stringContaining('the variable KEY is not set; set KEY'),
      },
      'a schedule is due that this process cannot run',
    ]);
    expect(await run()).toMatchObject({ run: { outcome: 'done', missed: 3 } });
    expect((await loadScheduleView(runtime, 'nokey'))?.overdueSince).toBeUndefined();
  });
});

describe('an operator', () => {
  it('pauses, resumes and removes a schedule; a paused one has no next run and misses nothing', async () => {
    const { runtime, to, run, loaded } = await schedule('handled');
    await pauseSchedule(runtime, 'handled');
    to(3);
    expect(await run()).toEqual({ kind: 'not_due' });
    expect(await loadScheduleView(runtime, 'handled')).toMatchObject({ state: 'paused' });
    await setSchedule(runtime, loaded, { ...daily, cron: '0 7 * * *' });
    expect(await loadScheduleView(runtime, 'handled')).toMatchObject({ state: 'paused', cron: '0 7 * * *' });
    expect(await run({ now: true })).toMatchObject({ run: { outcome: 'done', missed: 0 } });
    await resumeSchedule(runtime, 'handled');
    expect(await loadScheduleView(runtime, 'handled')).toMatchObject({ next: at(4, -5).toISOString() });
    to(4);
    expect(await run()).toMatchObject({ run: { outcome: 'nothing_new', missed: 0 } });

    const removal = { resolveLedger: () => Promise.reject(new Error('not asked')) as never };
    await expect(removeMigration(runtime, 'handled', removal)).rejects.toThrow(/schedule rm handled/);
    to(400);
    const withoutRedis = { ...runtime, askRedis: async () => undefined };
    expect(await sweepFinished(withoutRedis, { ...removal, afterDays: 1, log: runtime.log })).not.toContain(
      'handled',
    );
    await removeSchedule(runtime, 'handled');
    await expect(removeSchedule(runtime, 'handled')).rejects.toThrow(/has no schedule/);
    expect((await listSchedules(runtime)).map(({ migration }) => migration)).not.toContain('handled');

    // A removed migration takes no schedule again, in the words of a run.
    await assertNotRemoved(runtime.staging, 'handled');
    await applyEvent(
      runtime.staging,
      await requireMigration(runtime.staging, 'handled'),
      { kind: 'remove' },
      { reason: '', at: at(400).toISOString() },
    );
    await expect(assertNotRemoved(runtime.staging, 'handled')).rejects.toThrow(
      'migration "handled" was removed; give the manifest another name',
    );
  });

  it('is none of a replay of its rejects, also where that is continued', async () => {
    const { runtime } = lab;
    const loaded = await lab.writeManifest('replayed', { schedule: daily });
    await startMigration(runtime, loaded, importing());
    const stop = new AbortController();
    const stopped = importing({ signal: stop.signal, onBegin: () => stop.abort(new Error('stopped')) });
    for (const given of [stopped, importing()])
      expect(await replayRejects(runtime, 'replayed', { loaded }, given)).toMatchObject({
        migration: 'replayed.replay-1',
      });
    expect(await loadScheduleView(runtime, 'replayed.replay-1')).toBeUndefined();
    const { manifest } = await loadStoredManifest(runtime.staging, 'replayed.replay-1');
    expect(manifest.schedule).toBeUndefined();
  });

  it('sets one by running a manifest that has one', async () => {
    const clock = createClock();
    const loaded = await lab.writeManifest('declared', {
      schedule: { cron: '15 3 * * 1', timezone: 'Asia/Tokyo' },
    });
    await startMigration(clock.runtime, loaded, importing());
    expect(await loadScheduleView(clock.runtime, 'declared')).toMatchObject({
      cron: '15 3 * * 1',
      timezone: 'Asia/Tokyo',
      lagMinutes: 1,
    });
    // The same again is no new version.
    const version = await clock.runtime.staging.get('_schedules/declared/versions/00000002.json');
    await setSchedule(clock.runtime, loaded, { cron: '15 3 * * 1', timezone: 'Asia/Tokyo', lagMinutes: 1 });
    expect(version).toBeUndefined();
    expect(await clock.runtime.staging.get('_schedules/declared/versions/00000002.json')).toBeUndefined();
  });
});
