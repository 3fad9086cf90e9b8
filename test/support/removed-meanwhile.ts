import { expect } from 'vitest';
import { PART_MAX_RECORDS } from '../../src/contract/part.ts';
import { FencedOutError } from '../../src/lib/errors.ts';
import { cancelMigration } from '../../src/migrations/control.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { loadReport } from '../../src/migrations/report.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { startStagingWorker } from '../../src/runtime/queues.ts';
import { leaseKey } from '../../src/state/checkpoints.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, line, type MigrationLab } from './migration-lab.ts';
import { type Step, sleepAt } from './sleep-at.ts';

/** Steps of staging a file of two parts, each of which a process may sleep before. */
export const STAGING_STEPS: Readonly<Record<string, Step>> = {
  'its first records': { method: 'put', key: '/00000.', when: 'before' },
  'its last records': { method: 'put', key: '/00001.', when: 'before' },
  'what describes its last part': {
    method: 'create',
    key: '/00001.json',
    when: 'before',
  },
  'its receipt': { method: 'create', key: '/files/', when: 'before' },
};

/**
 * A producer sleeps while it stages, its migration is removed, and the name given to another one. Nothing that it
 * stages once it wakes may become the other's.
 */
export async function expectNothingOfRemoved(lab: MigrationLab, name: string, step: Step): Promise<void> {
  const { staging } = lab.runtime;
  const loaded = await lab.writeManifest(name);
  lab.writeFile(
    name,
    'a.json',
    Array.from({ length: PART_MAX_RECORDS + 1 }, (_, n) => line(`${name}-wrong-${n}`)),
  );
  const sleepy = sleepAt(lab.runtime, name, step);
  const sleeping = startMigration(
    {
      ...lab.runtime,
      ...{ staging: sleepy.staging, redis: sleepy.redis },
      startStaging: async (work) =>
        startStagingWorker({ ...lab.runtime, staging: sleepy.staging, redis: sleepy.redis }, work),
    },
    loaded,
    importing({ importHere: false }),
  ).catch((error: unknown) => error);
  await sleepy.asleep;

  const removed = await loadMigration(staging, name);
  await lab.redis.del(leaseKey(removed?.id ?? '')); // as it expires
  await cancelMigration(lab.runtime, name, 'a wrong export');
  await removeMigration(lab.runtime, name, {
    forget: true,
    resolveLedger: (manifest) => resolveLedger(manifest, { env: lab.env, bundled: undefined }),
  });
  lab.writeFile(name, 'a.json', [line(`${name}-1`), line(`${name}-2`)]);
  const counts = { read: 2, delivered: 2 };
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
    report: { counts },
  });

  sleepy.wake();
  expect(await sleeping).toSatisfy(
    (end: unknown) => end instanceof FencedOutError || (end as { kind?: string }).kind === 'superseded',
  );
  expect(await loadReport(lab.runtime, name)).toMatchObject({
    balanced: true,
    counts,
    problems: [],
  });
  expect(await resumeMigration(lab.runtime, name, importing())).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts, problems: [] },
  });
  lab.writeFile(name, 'b.json', [line(`${name}-3`)]);
  expect(await startMigration(lab.runtime, loaded, importing({ topUp: true }))).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: 3, delivered: 3 }, problems: [] },
  });
  const sent = [...lab.destination.events().values()].map(({ distinctId }) => distinctId);
  expect(sent.filter((id) => id.startsWith(`user-${name}-`)).sort()).toEqual(
    [1, 2, 3].map((n) => `user-${name}-${n}`),
  );
  // Personal data of what was removed.
  const left: string[] = [];
  for await (const { key } of staging.list(`${name}/`)) if (key.includes(removed?.id ?? '')) left.push(key);
  expect(left).toEqual([]);
}
