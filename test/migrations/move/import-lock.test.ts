import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { UnavailableError } from '../../../src/lib/errors.ts';
import { exportState } from '../../../src/migrations/move/export-state.ts';
import { whileImporting } from '../../../src/migrations/move/import-lock.ts';
import { importState } from '../../../src/migrations/move/import-state.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { loadReport } from '../../../src/migrations/report.ts';
import { THIS_PLACE } from '../../../src/migrations/run/this-place.ts';
import { loadStatus, loadView } from '../../../src/migrations/status/watch.ts';
import { addImports, loadImports } from '../../../src/state/archive/imports.ts';
import { loadControl } from '../../../src/state/control.ts';
import { listMigrations } from '../../../src/state/migrations.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

let lab: MigrationLab;
let file: string;
const signal = new AbortController().signal;

beforeAll(async () => {
  lab = await openMigrationLab();
  file = join(lab.workplace.folder, 'moved.tar.gz');
  await exportState(lab.runtime, ['first'], { file, version: '0.0.0', signal });
});
afterAll(() => lab?.close());

let places = 0;
const newStaging = (): Staging =>
  createFolderStaging(join(lab.workplace.dataDir(`place-${++places}`), 'staging'));
const at = (staging: Staging) => ({ ...lab.runtime, staging, askRedis: async () => undefined });
const importInto = (staging: Staging) => importState(at(staging), file, { bundledKey: undefined, signal });
const remove = (staging: Staging) =>
  removeMigration(at(staging), 'first', {
    resolveLedger: () => {
      throw new Error('needs no key');
    },
  });

/** A process that is killed at the given change: nothing that it does afterwards arrives. */
function dyingAt(staging: Staging, change: number): Staging {
  let changes = 0;
  const die = () => {
    if (++changes >= change) throw new UnavailableError('killed');
  };
  return {
    ...staging,
    put: async (key, body) => {
      die();
      return staging.put(key, body);
    },
    create: async (key, body) => {
      die();
      return staging.create(key, body);
    },
    remove: async (key) => {
      die();
      return staging.remove(key);
    },
  };
}

describe('an import', () => {
  it('is refused while another one runs, as is the removal of what that one writes', async () => {
    const staging = newStaging();
    const others: unknown[] = [];
    const slow: Staging = {
      ...staging,
      put: async (key, body) => {
        if (key.includes('/receipts/') && others.length === 0)
          others.push(
            await importInto(staging).catch((error: unknown) => error),
            await remove(staging).catch((error: unknown) => error),
          );
        return staging.put(key, body);
      },
    };
    await importInto(slow);
    const refused = `is being changed by process ${process.pid} on ${hostname()}, which imports ${file}: wait for its end, or stop that process, and then run this command again`;
    expect(others.map(String)).toEqual([expect.stringContaining(refused), expect.stringContaining(refused)]);
    expect(await loadReport(at(staging), 'first')).toMatchObject({ balanced: true, problems: [] });
  });

  it('that was killed at any change is shown, and goes on or is removed', async () => {
    let change = 0;
    for (let isDone = false; !isDone; ) {
      change += 1;
      const staging = newStaging();
      isDone = await importInto(dyingAt(staging, change)).then(
        () => true,
        () => false,
      );
      const state = (await loadControl(staging, 'first'))?.state;
      if (state !== 'importing') continue;
      expect(await loadStatus(at(staging)), `change ${change}`).toMatchObject([
        { migration: 'first', state: 'importing', reason: `from ${file}` },
      ]);
      if (!(await listMigrations(staging)).includes('first'))
        await expect(loadView(at(staging), 'first')).rejects.toThrow(
          'run the same "backhaul state import <file>" again, or remove what is here with "backhaul rm first"',
        );
      if (change % 2 === 0) {
        expect(await remove(staging)).toEqual({ isElsewhere: true });
        expect(await loadStatus(at(staging))).toEqual([]);
        for await (const { key } of staging.list('first/')) expect.fail(`${key} is left`);
      }
      await importInto(staging);
      expect(await loadReport(at(staging), 'first')).toMatchObject({ balanced: true, problems: [] });
      expect((await loadImports(staging)).begun).toEqual([]);
    }
    expect(change).toBeGreaterThan(10);
  }, 300_000);
});

describe('the lock of imports', () => {
  const holder = { host: 'another machine', pid: 1, token: 'other', doing: 'imports a file' };
  const take = (staging: Staging, wait: () => Promise<void>) =>
    whileImporting(staging, { doing: 'imports', names: ['a'], signal, wait }, async () => 'done');
  const never = () => expect.fail('waits');

  it('of a process of this machine that is gone is taken over at once', async () => {
    const staging = newStaging();
    const { pid } = spawnSync('true');
    await addImports(staging, { number: 1, holder: { ...holder, ...THIS_PLACE, pid }, begun: ['b'] });
    expect(await take(staging, never)).toBe('done');
    expect(await loadImports(staging)).toEqual({ number: 3, begun: ['b'] });
  });

  it.each([
    ['another machine', holder],
    ['another container of the same name', { ...holder, ...THIS_PLACE, pids: 'others', pid: 2 ** 22 - 7 }],
  ])('of %s is taken over when that has been silent, and not before', async (_, holder) => {
    const staging = newStaging();
    await addImports(staging, { number: 1, holder, begun: ['b'] });
    const speak = async () => void (await addImports(staging, { number: 2, holder, begun: ['b'] }));
    await expect(take(staging, speak)).rejects.toThrow(
      `is being changed by process ${holder.pid} on ${holder.host}`,
    );
    let waits = 0;
    const count = async () => {
      waits += 1;
    };
    expect(await take(staging, count)).toBe('done');
    expect(waits).toBe(1);
  });

  it('that another process took over changes nothing any more', async () => {
    const staging = newStaging();
    const work = async (lock: { assertHeld(): Promise<void> }) => {
      await lock.assertHeld();
      const { number } = await loadImports(staging);
      await addImports(staging, { number: number + 1, holder, begun: [] });
      await lock.assertHeld();
    };
    await expect(whileImporting(staging, { doing: 'imports', names: ['a'], signal }, work)).rejects.toThrow(
      'another process imports into',
    );
    expect((await loadImports(staging)).holder).toEqual(holder);
  });
});
