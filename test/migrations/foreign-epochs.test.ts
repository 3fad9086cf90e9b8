import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadStoredManifest } from '../../src/migrations/manifest/stored-manifest.ts';
import { loadReport } from '../../src/migrations/report.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { createMigrationReader } from '../../src/migrations/status/status.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { forgetMigration } from '../support/forget-migration.ts';
import { importing, line, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';
import { type Step, sleepAt } from '../support/sleep-at.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const OPENS_AGAIN: Step = { method: 'create', key: '/epochs/00000002', when: 'before' };

const sleepy = (name: string, step: Step) => {
  const { staging, redis, asleep, wake } = sleepAt(lab.runtime, name, step);
  return { runtime: { ...lab.runtime, staging, redis }, asleep, wake };
};

/** A resume of a migration sleeps before it opens its second epoch; meanwhile the migration is removed. */
async function removeAsleep(name: string) {
  const loaded = await lab.writeManifest(name);
  lab.writeFile(name, 'a.json', [line(`${name}-wrong-1`), line(`${name}-wrong-2`)]);
  await startMigration(lab.runtime, loaded, stageOnly('the laptop closes'));
  const { runtime, asleep, wake } = sleepy(name, OPENS_AGAIN);
  const ended = resumeMigration(runtime, name, importing()).catch((error: unknown) => error);
  await asleep;
  await forgetMigration(lab, name);
  return {
    wake: () => {
      wake();
      return ended;
    },
  };
}

/** The manifest of the migration that has the name next. */
const writeNext = async (name: string) => {
  const loaded = await lab.writeManifest(name, { limits: { eventsPerMinute: 5_000 } });
  lab.writeFile(name, 'a.json', [line(`${name}-1`)]);
  return loaded;
};

describe('an epoch that a producer opens after its migration was removed and another one has its name', () => {
  it('does not make a finished one look stopped, and is not what its resume reads', async () => {
    const name = 'finished';
    const removed = await removeAsleep(name);
    const loaded = await writeNext(name);
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    const sent = lab.destination.requests.length;
    const look = async () => {
      const reader = await createMigrationReader(lab.runtime, name);
      const { manifest } = await loadStoredManifest(lab.runtime.staging, name);
      return { status: await reader.readStatus(), limit: manifest.limits.eventsPerMinute };
    };
    const before = await look();
    expect(before).toMatchObject({ status: { state: 'finished' }, limit: 5_000 });

    expect(await removed.wake()).toMatchObject({ kind: 'superseded' });
    expect(lab.destination.requests.length).toBe(sent);
    expect(await look()).toEqual(before);
    const counts = { read: 1, delivered: 1 };
    expect(await loadReport(lab.runtime, name)).toMatchObject({ balanced: true, counts, problems: [] });
    expect(await resumeMigration(lab.runtime, name, importing())).toMatchObject({
      kind: 'finished',
      report: { counts },
    });
  });

  it('does not end the producer of that one', async () => {
    const name = 'running';
    const removed = await removeAsleep(name);
    const loaded = await writeNext(name);
    const next = sleepy(name, { method: 'put', key: '/reports/', when: 'before' });
    const running = startMigration(next.runtime, loaded, importing());
    await next.asleep;

    await removed.wake();
    next.wake();
    expect(await running).toMatchObject({ kind: 'finished', report: { counts: { read: 1 } } });
    // The number is taken, and the next epoch has the one behind it.
    lab.writeFile(name, 'b.json', [line(`${name}-2`)]);
    const topUp = importing({ topUp: true });
    expect(await startMigration(lab.runtime, loaded, topUp)).toMatchObject({
      kind: 'finished',
      report: { counts: { read: 2, delivered: 2 } },
    });
    const { epochs } = layout(name);
    const keys: string[] = [];
    for await (const { key } of lab.runtime.staging.list(epochs)) keys.push(key.slice(epochs.length));
    expect(keys).toEqual(['00000001', '00000002', '00000003']);
  });
});
