import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFinished, loadReport } from '../../src/migrations/report.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { loadStatus } from '../../src/migrations/status/watch.ts';
import { leaseKey, migrationKey } from '../../src/state/checkpoints.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { type Step, sleepAt } from '../support/sleep-at.ts';

/** A producer that sleeps longer than its lease lasts, at one step, while another one finishes the migration. */
let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const STEPS: Record<string, Step> = {
  'before it opened its epoch': { method: 'create', key: 'epochs/00000001', when: 'before' },
  'after it opened its epoch': { method: 'create', key: 'epochs/00000001', when: 'after' },
  'before it wrote that the migration runs': { method: 'create', key: 'control/', when: 'before' },
  'before it offered a part': { method: 'get', key: 'receipts/', when: 'before' },
  'before it wrote its progress': { method: 'put', key: 'progress/', when: 'before' },
  'before it wrote its report': { method: 'put', key: 'reports/', when: 'before' },
  'before it wrote that the migration finished': {
    method: 'create',
    key: 'control/00000002',
    when: 'before',
  },
};

const readNewest = (folder: string) =>
  readFileSync(join(folder, readdirSync(folder).sort().at(-1) ?? ''), 'utf8');

describe('a producer that wakes after another one has finished the migration', () => {
  it.each(Object.entries(STEPS))('ends as superseded, where it slept %s', async (where, step) => {
    const name = where.replaceAll(' ', '-');
    const loaded = await lab.writeManifest(name);
    const { staging, redis, asleep, wake } = sleepAt(lab.runtime, name, step);
    const sleeping = startMigration(
      { ...lab.runtime, staging, redis },
      loaded,
      importing({ importHere: where.startsWith('before it wrote its report') || where.endsWith('finished') }),
    );
    await asleep;
    const record = await loadMigration(lab.runtime.staging, name);
    await lab.redis.del(leaseKey(record?.id ?? '')); // as it expires
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    const folder = join(lab.workplace.dataDir('here'), 'staging', name);
    const look = () => [
      readdirSync(join(folder, 'epochs')),
      readdirSync(join(folder, 'control')),
      readNewest(join(folder, 'control')),
      readNewest(join(folder, 'reports')),
      readNewest(join(folder, 'progress')),
    ];
    const before = look();

    wake();
    expect(await sleeping).toMatchObject({
      kind: 'superseded',
      reason: 'another process has acquired this migration; this one stops, nothing is lost',
    });
    expect(look()).toEqual(before);
    expect(await loadStatus(lab.runtime, name)).toMatchObject([{ state: 'finished' }]);
    expect(isFinished(await loadReport(lab.runtime, name))).toBe(true);
    // What Redis remembers of it, so that sleepers are fenced out, it does not remember for ever.
    expect(await lab.redis.pttl(migrationKey(record?.id ?? ''))).toBeGreaterThan(0);
  });
});
