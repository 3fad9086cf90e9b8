import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pauseMigration } from '../../src/migrations/control.ts';
import { loadReport } from '../../src/migrations/report.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { loadStatus } from '../../src/migrations/status/watch.ts';
import { importing, line, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const topUp = () => importing({ topUp: true });

/** Runs a migration of one file to its end: three records, of which two are delivered. */
async function finish(name: string) {
  const loaded = await lab.writeManifest(name);
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
  return loaded;
}

describe('a new file in the source of a finished migration', () => {
  it('is refused by name, left by a resume, and taken in by a top-up, which sends nothing else', async () => {
    const loaded = await finish('grown');
    lab.writeFile('grown', 'b.json', [line('grown-4'), line('grown-5')]);
    await expect(startMigration(lab.runtime, loaded, importing())).rejects.toThrow(
      /- grown\/b\.json is new[\s\S]*run --top-up/,
    );
    expect(await resumeMigration(lab.runtime, 'grown', importing())).toMatchObject({
      kind: 'finished',
      report: { counts: { read: 3 } },
    });

    const before = lab.destination.events().size;
    const requests = lab.destination.requests.length;
    expect(await startMigration(lab.runtime, loaded, topUp())).toMatchObject({
      kind: 'finished',
      report: { balanced: true, counts: { read: 5, delivered: 4, rejected: 1 } },
    });
    expect(lab.destination.events().size).toBe(before + 2);
    const sent = lab.destination.requests.slice(requests).map(({ events }) => events);
    expect(sent).toEqual([2]);
    expect(await loadStatus(lab.runtime, 'grown')).toMatchObject([{ state: 'finished', parts: { done: 2 } }]);

    // From now on it belongs to the migration, and a second top-up finds nothing new.
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    expect(await startMigration(lab.runtime, loaded, topUp())).toMatchObject({ kind: 'finished' });
    expect(lab.destination.requests).toHaveLength(requests + 1);
  });

  it('is taken in by the resume of a top-up that was interrupted', async () => {
    const loaded = await finish('grown-late');
    lab.writeFile('grown-late', 'b.json', [line('grown-late-4')]);
    const stop = new AbortController();
    const onBegin = () => stop.abort(new Error('not now'));
    const options = { ...topUp(), signal: stop.signal, onBegin };
    expect(await startMigration(lab.runtime, loaded, options)).toMatchObject({ reason: 'not now' });
    expect(await loadReport(lab.runtime, 'grown-late')).toMatchObject({
      ...{ balanced: true, problems: [], counts: { read: 3 } },
      unfinished: { files: ['grown-late/b.json'] },
    });
    expect(await loadStatus(lab.runtime, 'grown-late')).toMatchObject([
      {
        state: 'interrupted',
        reason:
          '1 file is not staged: a top-up ended before it began with them, or what was staged of them is gone',
      },
    ]);
    expect(await resumeMigration(lab.runtime, 'grown-late', importing())).toMatchObject({
      kind: 'finished',
      report: { counts: { read: 4 } },
    });
    expect(await loadStatus(lab.runtime, 'grown-late')).toMatchObject([{ state: 'finished' }]);
  });

  it('needs a migration, and one that nobody has paused', async () => {
    const loaded = await lab.writeManifest('nothing-yet');
    expect(await startMigration(lab.runtime, loaded, topUp())).toMatchObject({
      kind: 'refused',
      refusal: 'no_such_migration',
    });
    await startMigration(lab.runtime, loaded, stageOnly(''));
    await pauseMigration(lab.runtime, 'nothing-yet', 'lunch');
    expect(await startMigration(lab.runtime, loaded, topUp())).toMatchObject({ refusal: 'resume_first' });
  });
});

describe('a file under a new name', () => {
  const rename = (name: string) =>
    renameSync(join(lab.workplace.folder, name, 'a.json'), join(lab.workplace.folder, name, 'moved.json'));

  it('is no new one, once it is staged', async () => {
    const loaded = await finish('moved');
    rename('moved');
    const requests = lab.destination.requests.length;
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    expect(await startMigration(lab.runtime, loaded, topUp())).toMatchObject({
      report: { counts: { read: 3 } },
    });
    expect(lab.destination.requests).toHaveLength(requests);
  });

  it('does not keep a migration from being resumed, before it is staged', async () => {
    const loaded = await lab.writeManifest('moved-early');
    lab.writeFile('moved-early', 'b.json', [line('moved-early-4')]);
    const stop = new AbortController();
    const onBegin = () => stop.abort(new Error('not now'));
    await startMigration(lab.runtime, loaded, importing({ signal: stop.signal, onBegin }));
    rename('moved-early');
    lab.writeFile('moved-early', 'c.json', [line('moved-early-5')]);
    expect(await resumeMigration(lab.runtime, 'moved-early', importing())).toMatchObject({
      kind: 'finished',
      report: { counts: { read: 4 } },
    });
  });
});
