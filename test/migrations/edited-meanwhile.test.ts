import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { loadLatestEpoch } from '../../src/state/epochs.ts';
import { importing, line, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';
import { sleepAt } from '../support/sleep-at.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

it('a resume that sleeps before it has the lease runs with what was edited meanwhile', async () => {
  const name = 'edited';
  const limits = (requestsInFlight: number) =>
    lab.writeManifest(name, { limits: { requestsInFlight }, rejects: { failAbove: `${requestsInFlight}%` } });
  const before = await limits(1);
  lab.writeFile(name, 'a.json', [line(`${name}-1`), line(`${name}-2`)]);
  await startMigration(lab.runtime, before, stageOnly('enough'));

  // Its manifest is read by then.
  const sleepy = sleepAt(lab.runtime, name, { method: 'get', key: '/files/', when: 'before' });
  const { staging, redis } = sleepy;
  const resuming = resumeMigration({ ...lab.runtime, staging, redis }, name, importing());
  await sleepy.asleep;
  const after = await limits(2);
  lab.writeFile(name, 'a.json', [line(`${name}-1`), line(`${name}-2`)]);
  expect(await startMigration(lab.runtime, after, stageOnly('again'))).toMatchObject({ kind: 'stopped' });

  sleepy.wake();
  expect(await resuming).toMatchObject({ kind: 'finished', report: { counts: { delivered: 2 } } });
  expect(await loadLatestEpoch(lab.runtime.staging, name)).toMatchObject({
    manifest: { limits: { requestsInFlight: 2 }, rejects: { failAbove: '2%' } },
  });
});
