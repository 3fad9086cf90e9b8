import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSettings } from '../../../config/load-settings.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { UnavailableError } from '../../../src/lib/errors.ts';
import { exportState } from '../../../src/migrations/move/export-state.ts';
import { importState } from '../../../src/migrations/move/import-state.ts';
import { takeBack } from '../../../src/migrations/move/take-back.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { loadReport } from '../../../src/migrations/report.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { setSchedule } from '../../../src/migrations/schedule/schedules.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { openRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import { addImports, loadImports } from '../../../src/state/archive/imports.ts';
import { loadControl } from '../../../src/state/control.ts';
import {
  createMigration,
  listMigrations,
  loadMigration,
  type MigrationRecord,
} from '../../../src/state/migrations.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { importing, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';
import { silent } from '../../support/silent.ts';

/** What must not be at two places, and what an interruption leaves. All migrations here go to one project. */
let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const signal = new AbortController().signal;
const fileOf = (name: string) => join(lab.workplace.folder, `${name}.tar.gz`);
const stagingOf = (name: string): Staging =>
  createFolderStaging(join(lab.workplace.dataDir(name), 'staging'));
/** Another place, with a staging of its own. */
const at = (staging: Staging) => ({ ...lab.runtime, staging, askRedis: async () => undefined });
const openAt = (name: string): Promise<Runtime> =>
  openRuntime(
    loadSettings({ REDIS_URL: lab.server.url, BACKHAUL_DATA_DIR: lab.workplace.dataDir(name) }),
    lab.env,
    { api: false },
    silent,
  );
const exportFrom = (place: { staging: Staging }, names: string[], file: string) =>
  exportState({ ...lab.runtime, ...place }, names, { file: fileOf(file), version: '0.0.0', signal });
const importInto = (staging: Staging, file: string) =>
  importState(at(staging), fileOf(file), { bundledKey: undefined, signal });

const neverAsked = (): never => {
  throw new Error('needs no key');
};

const identify = () =>
  [...lab.destination.events().values()]
    .filter(({ event }) => event === '$identify')
    .map(({ distinctId, properties: { $anon_distinct_id: merged } }) => [distinctId, merged]);

async function writePairs(name: string, user: string, device: string) {
  const mapping = {
    event: { column: 'e' },
    distinctId: { column: 'u' },
    anonymousId: { column: 'd' },
    timestamp: { column: 't' },
    key: ['n'],
  };
  const loaded = await lab.writeManifest(name, {
    source: { type: 'jsonl', from: `${name}/*.json`, mapping },
  });
  lab.writeFile(name, 'a.json', [
    JSON.stringify({ e: 'seen', u: user, d: device, t: '2024-02-03T04:05:06Z', n: `${name}-1` }),
  ]);
  return loaded;
}

describe('migrations to one project', () => {
  it('move together, and what the ledger knows forbids a wrong merge at the new place', async () => {
    const resolver = (manifest: Parameters<typeof resolveLedger>[0]) =>
      resolveLedger(manifest, { env: lab.env, bundled: undefined });
    await startMigration(lab.runtime, await writePairs('year-1', 'anna', 'tablet'), importing());
    expect(identify()).toContainEqual(['anna', 'tablet']);
    // Only the ledger knows of the tablet from here on.
    await removeMigration(lab.runtime, 'year-1', { resolveLedger: resolver });

    await expect(exportFrom(lab.runtime, ['year-1'], 'one')).rejects.toThrow(
      'migrations to one project move together, because what is known of its persons is kept once for all of them: name first as well (backhaul state export year-1 first --to <file>)',
    );
    expect((await loadControl(lab.runtime.staging, 'year-1'))?.state).toBe('removed');
    await exportFrom(lab.runtime, ['first', 'year-1'], 'both');

    // A new one at the old place would decide without what is sent from the new one.
    const next = await writePairs('year-2', 'bert', 'tablet');
    await expect(startMigration(lab.runtime, next, importing())).rejects.toThrow(
      'the migrations to this project were exported from',
    );
    expect(await listMigrations(lab.runtime.staging)).not.toContain('year-2');

    const there = stagingOf('there');
    await importInto(there, 'both');
    expect((await loadControl(there, 'year-1'))?.state).toBe('removed');
    expect((await loadControl(there, 'first'))?.state).toBe('finished');
    expect(await loadReport(at(there), 'first')).toMatchObject({ balanced: true, problems: [] });
    const runtime = await openAt('there');
    try {
      expect(await startMigration(runtime, next, importing())).toMatchObject({ kind: 'finished' });
    } finally {
      await runtime.close();
    }
    expect(identify()).not.toContainEqual(['bert', 'tablet']);
  });

  it('are refused where another migration to the project is, or was', async () => {
    const other = stagingOf('other');
    const runtime = await openAt('other');
    try {
      const loaded = await writePairs('settled', 'carl', 'phone');
      expect(await startMigration(runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
    } finally {
      await runtime.close();
    }
    await expect(importInto(other, 'both')).rejects.toThrow(
      'has migration "settled" to the same project, and what each place knows of its persons cannot be joined',
    );
    const folder = join(lab.workplace.dataDir('other'), 'staging');
    for (const gone of ['_migrations', 'settled']) await rm(join(folder, gone), { recursive: true });
    await expect(importInto(other, 'both')).rejects.toThrow('from migrations that are gone (_ledgers/');
    expect(await listMigrations(other)).toEqual([]);
  });

  it('are refused where another one has the name', async () => {
    const staging = stagingOf('namesake');
    const record = {
      ...(await loadMigration(stagingOf('there'), 'first')),
      id: 'another',
    } as MigrationRecord;
    await createMigration(staging, record);
    await expect(importInto(staging, 'both')).rejects.toThrow('has another migration of the name "first"');
    await staging.remove('_migrations/first.json');
    await staging.put('first/parts/x', Buffer.from('x'));
    await expect(importInto(staging, 'both')).rejects.toThrow(
      'objects below first/ that belong to no migration',
    );
  });
});

describe('an import that is interrupted', () => {
  it('leaves nothing that runs, and is continued with the same file', async () => {
    const staging = stagingOf('interrupted');
    const failing: Staging = {
      ...staging,
      put: async (key, body) => {
        if (key.includes('/receipts/')) throw new UnavailableError('the storage is away');
        return staging.put(key, body);
      },
    };
    await expect(importInto(failing, 'both')).rejects.toThrow('the storage is away');
    const runtime = await openAt('interrupted');
    try {
      const resume = () => resumeMigration(runtime, 'first', importing());
      expect(await resume()).toMatchObject({ kind: 'refused', refusal: 'importing' });
      await importInto(staging, 'both');
      expect(await resume()).toMatchObject({ kind: 'finished', report: { balanced: true } });
      await expect(importInto(staging, 'both')).rejects.toThrow('is in folder');
    } finally {
      await runtime.close();
    }
  });

  it('between the states of two migrations only sets the rest', async () => {
    const staging = stagingOf('states');
    let states = 0;
    const failing: Staging = {
      ...staging,
      create: async (key, body) => {
        if (key.includes('/control/') && !Buffer.from(body).includes('"importing"')) states += 1;
        if (states > 1) throw new UnavailableError('the storage is away');
        return staging.create(key, body);
      },
    };
    await expect(importInto(failing, 'both')).rejects.toThrow('the storage is away');
    expect((await loadControl(staging, 'first'))?.state).toBe('finished');
    expect((await loadControl(staging, 'year-1'))?.state).toBe('importing');
    await importInto(staging, 'both');
    expect((await loadControl(staging, 'year-1'))?.state).toBe('removed');
  });
});

describe('an import that ends between the ledger and the states', () => {
  it('is continued with the same file', async () => {
    const staging = stagingOf('ledger');
    const failing: Staging = {
      ...staging,
      create: async (key, body) => {
        if (key.includes('/control/') && !Buffer.from(body).includes('"importing"'))
          throw new UnavailableError('the storage is away');
        return staging.create(key, body);
      },
    };
    await expect(importInto(failing, 'both')).rejects.toThrow('the storage is away');
    expect((await loadControl(staging, 'first'))?.state).toBe('importing');
    await importInto(staging, 'both');
    expect((await loadControl(staging, 'first'))?.state).toBe('finished');
    expect(await loadReport(at(staging), 'first')).toMatchObject({ balanced: true, problems: [] });
  });
});

describe('an import that sleeps while another process ends it', () => {
  it.each(['/control/', '/receipts/'])('changes nothing when it wakes at %s', async (word) => {
    const staging = stagingOf(`asleep${word.replaceAll('/', '-')}`);
    let slept = false;
    const sleep = async (key: string) => {
      if (slept || !key.includes(word)) return;
      slept = true;
      const { number } = await loadImports(staging);
      await addImports(staging, { number: number + 1, begun: [] }); // it slept for longer than its lock lasts
      await importInto(staging, 'both');
      await staging.put('first/new', Buffer.from('x'));
    };
    const sleeping: Staging = {
      ...staging,
      create: async (key, body) => {
        await sleep(key);
        return staging.create(key, body);
      },
      put: async (key, body) => {
        await sleep(key);
        return staging.put(key, body);
      },
    };
    await expect(importInto(sleeping, 'both')).rejects.toThrow('another process has imported migration');
    expect(await staging.get('first/new')).toBeDefined();
    expect((await loadControl(staging, 'first'))?.state).toBe('finished');
  });
});

describe('an export', () => {
  it('writes no file of what was taken back meanwhile', async () => {
    const there = stagingOf('there');
    const names = (await listMigrations(there)).sort();
    let taken = 0;
    const slow: Staging = {
      ...there,
      get: async (key) => {
        if (key.includes('/receipts/') && taken++ === 0) await takeBack(at(there), 'first');
        return there.get(key);
      },
    };
    await expect(exportFrom({ staging: slow }, names, 'taken-back')).rejects.toThrow(
      'was taken back while it was exported, and would be at two places; export it again',
    );
    expect(existsSync(fileOf('taken-back'))).toBe(false);
    expect((await loadControl(there, 'first'))?.state).toBe('finished');
  });

  it('that is stopped says so, and the migrations go on here', async () => {
    const there = stagingOf('there');
    const names = (await listMigrations(there)).sort();
    const stop = new AbortController();
    const slow: Staging = {
      ...there,
      get: async (key) => {
        if (key.includes('/receipts/')) stop.abort(new UnavailableError('stopped by Ctrl-C'));
        return there.get(key);
      },
    };
    const options = { file: fileOf('stopped'), version: '0.0.0', signal: stop.signal };
    await expect(exportState({ ...lab.runtime, staging: slow }, names, options)).rejects.toThrow(
      'stopped by Ctrl-C',
    );
    expect(existsSync(fileOf('stopped'))).toBe(false);
    expect((await loadControl(there, 'first'))?.state).toBe('finished');
  });

  it('that fails leaves a later one alone', async () => {
    const there = stagingOf('there');
    const names = (await listMigrations(there)).sort();
    let read = 0;
    const slow: Staging = {
      ...there,
      get: async (key) => {
        if (!key.includes('/receipts/') || read++ > 0) return there.get(key);
        await takeBack(at(there), 'first');
        await exportFrom({ staging: there }, names, 'later');
        throw new UnavailableError('the storage is away');
      },
    };
    await expect(exportFrom({ staging: slow }, names, 'earlier')).rejects.toThrow('the storage is away');
    expect(existsSync(fileOf('later'))).toBe(true);
    expect((await loadControl(there, 'first'))?.state).toBe('moved');
    await takeBack(at(there), 'first');
  });
});

describe('the place that migrations were moved from', () => {
  it('gives its space back, and takes them in again', async () => {
    const { staging } = lab.runtime;
    expect(await removeMigration(lab.runtime, 'first', { resolveLedger: neverAsked })).toEqual({
      isElsewhere: true,
    });
    expect(await listMigrations(staging)).not.toContain('first');
    await expect(startMigration(lab.runtime, await lab.writeManifest('late'), importing())).rejects.toThrow(
      'the migrations to this project were exported from',
    );
    await importInto(staging, 'both');
    expect(await loadReport(lab.runtime, 'first')).toMatchObject({ balanced: true });
    expect(await startMigration(lab.runtime, await lab.writeManifest('late'), importing())).toMatchObject({
      kind: 'finished',
    });
  });

  it('goes on as before where the file cannot be written', async () => {
    const names = ['first', 'late', 'year-1'];
    const states = async () => Promise.all(names.map((name) => loadControl(lab.runtime.staging, name)));
    const before = (await states()).map((control) => control?.state);
    const file = join(lab.workplace.folder, 'no-such-folder/file.tar.gz');
    await expect(exportState(lab.runtime, names, { file, version: '0.0.0', signal })).rejects.toThrow(
      `${file} cannot be written`,
    );
    expect((await states()).map((control) => control?.state)).toEqual(before);
    expect(await resumeMigration(lab.runtime, 'late', importing())).toMatchObject({ kind: 'finished' });
  });

  it('keeps those with a schedule, which would go on here', async () => {
    const loaded = await lab.writeManifest('late');
    await setSchedule(lab.runtime, loaded, { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 0 });
    await expect(exportFrom(lab.runtime, ['first', 'late', 'year-1'], 'scheduled')).rejects.toThrow(
      'migration "late" has a schedule, which stays here; remove it first (backhaul schedule rm late)',
    );
  });
});
