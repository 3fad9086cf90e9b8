import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadReport } from '../../src/migrations/report.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { createMigrationReader } from '../../src/migrations/status/status.ts';
import { loadControl } from '../../src/state/control.ts';
import { forgetMigration } from '../support/forget-migration.ts';
import { importing, line, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { type Step, sleepAt } from '../support/sleep-at.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const STEPS: Readonly<Record<string, Step>> = {
  'a note of its progress': { method: 'put', key: '/progress/', when: 'before' },
  'its report': { method: 'put', key: '/reports/', when: 'before' },
};

describe('a producer that wakes after its migration was removed and another one has its name', () => {
  it.each(Object.entries(STEPS))(
    'says nothing of that one, where it slept before %s',
    async (where, step) => {
      const name = where.replaceAll(' ', '-');
      const loaded = await lab.writeManifest(name);
      lab.writeFile(
        name,
        'a.json',
        [1, 2, 3].map((n) => line(`${name}-wrong-${n}`)),
      );
      const sleepy = sleepAt(lab.runtime, name, step);
      const sleeping = startMigration(
        { ...lab.runtime, staging: sleepy.staging, redis: sleepy.redis },
        loaded,
        importing(),
      ).catch((error: unknown) => error);
      await sleepy.asleep;
      await forgetMigration(lab, name);

      lab.writeFile(name, 'a.json', [line(`${name}-1`)]);
      expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
      const reader = await createMigrationReader(lab.runtime, name);
      const before = await reader.readStatus();
      const state = await loadControl(lab.runtime.staging, name);

      sleepy.wake();
      await sleeping;
      expect(await loadControl(lab.runtime.staging, name)).toEqual(state);
      expect(await reader.readStatus()).toEqual(before);
      const counts = { read: 1, delivered: 1 };
      expect(await loadReport(lab.runtime, name)).toMatchObject({ balanced: true, counts, problems: [] });
    },
  );

  it('ends nothing of that one, where it slept before it entered its last state', async () => {
    const name = 'ends';
    const { staging } = lab.runtime;
    const loaded = await lab.writeManifest(name);
    const run = (step: Step) => {
      const sleepy = sleepAt(lab.runtime, name, step);
      const runtime = { ...lab.runtime, staging: sleepy.staging, redis: sleepy.redis };
      const ended = startMigration(runtime, loaded, importing()).catch((error: unknown) => error);
      return { ...sleepy, ended };
    };
    lab.writeFile(name, 'a.json', [line(`${name}-wrong-1`)]);
    const wrong = run({ method: 'create', key: '/control/00000002', when: 'before' });
    await wrong.asleep;
    await forgetMigration(lab, name);
    lab.writeFile(name, 'a.json', [line(`${name}-1`)]);
    const right = run({ method: 'put', key: '/reports/', when: 'before' });
    await right.asleep;

    wrong.wake();
    await wrong.ended;
    expect(await loadControl(staging, name)).toMatchObject({ state: 'running' });
    right.wake();
    expect(await right.ended).toMatchObject({ kind: 'finished', report: { counts: { read: 1 } } });
    const reader = await createMigrationReader(lab.runtime, name);
    expect((await reader.readView()).history.map(({ state }) => state)).toEqual(['finished', 'running']);
    expect(await resumeMigration(lab.runtime, name, importing())).toMatchObject({ kind: 'finished' });
  });
});
