import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManifestAt } from '../../src/migrations/manifest/stored-manifest.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { encodeDocument } from '../../src/state/document.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { listTopUps, loadMigration, type TopUp } from '../../src/state/migrations.ts';
import { importing, line, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';

/** Enough small files for a group. */
const FIRST = 33;
const ALL = 40;

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

function createMoment(): [Promise<void>, () => void] {
  let come = () => {};
  const moment = new Promise<void>((resolve) => {
    come = resolve;
  });
  return [moment, () => come()];
}

const topUp = (runtime: Runtime, loaded: ManifestAt) =>
  startMigration(runtime, loaded, importing({ topUp: true }));

/** Calls `note` where a top-up notes what it takes in; `write` is false where another one has that number. */
function atNote(name: string, note: (write: () => Promise<boolean>) => Promise<boolean>): Runtime {
  const { staging } = lab.runtime;
  const create: Runtime['staging']['create'] = async (key, body) => {
    const write = () => staging.create(key, body);
    return key.startsWith(layout(name).topUps) ? note(write) : write();
  };
  return { ...lab.runtime, staging: Object.assign(Object.create(staging), { create }) };
}

/** One that ends once it has noted what it takes in. */
const killedOnceNoted = (name: string) =>
  atNote(name, async (write) => {
    if (await write()) throw new Error('killed');
    return false;
  });

async function finish(name: string) {
  const loaded = await lab.writeManifest(name);
  await startMigration(lab.runtime, loaded, importing());
  const write = (from: number, to: number) => {
    for (let n = from; n < to; n += 1) lab.writeFile(name, `x${n}.json`, [line(`${name}-x${n}`)]);
  };
  return { loaded, write, before: lab.destination.events().size };
}

const IN = { balanced: true, counts: { read: 3 + ALL, delivered: 2 + ALL, duplicate: 0, rejected: 1 } };

describe('two top-ups at once', () => {
  it.each([
    { slower: 'more', seenFirst: FIRST },
    { slower: 'fewer', seenFirst: ALL },
  ])(
    'stage each file once, where the slower one saw $slower files than the one whose note came first',
    async ({ slower, seenFirst }) => {
      const name = `at-once-${slower}`;
      const { loaded, write, before } = await finish(name);
      const [slept, fallAsleep] = createMoment();
      const [woken, wake] = createMoment();
      const runSlower = () =>
        topUp(
          atNote(name, async (note) => {
            fallAsleep();
            await woken;
            return note();
          }),
          loaded,
        );
      write(0, FIRST);
      let second: ReturnType<typeof runSlower> | undefined;
      if (seenFirst === ALL) {
        second = runSlower();
        await slept;
        write(FIRST, ALL);
      }
      const first = atNote(name, async (note) => {
        if (seenFirst === FIRST) {
          write(FIRST, ALL);
          second = runSlower();
          await slept;
        }
        await note();
        throw new Error('killed');
      });
      await expect(topUp(first, loaded)).rejects.toThrow('killed');
      wake();
      expect(await second).toMatchObject({ kind: 'finished', report: IN });
      expect(lab.destination.events().size).toBe(before + ALL);
      const requests = lab.destination.requests.length;
      for (const again of [
        () => resumeMigration(lab.runtime, name, importing()),
        () => topUp(lab.runtime, loaded),
      ])
        expect(await again()).toMatchObject({ kind: 'finished', report: IN });
      expect(lab.destination.requests).toHaveLength(requests);
    },
  );
});

describe('a top-up that slept while its migration was removed and its name given to another one', () => {
  it('adds no files to that one', async () => {
    const { loaded, write } = await finish('name-again');
    // Of two names that the other migration has as well, no file would be added.
    lab.writeFile('name-again', 'gone.json', [line('name-again-gone')]);
    const [slept, fallAsleep] = createMoment();
    const [woken, wake] = createMoment();
    write(0, 2);
    const sleepy = topUp(
      atNote('name-again', async (note) => {
        fallAsleep();
        await woken;
        return note();
      }),
      loaded,
    );
    await slept;
    await removeMigration(lab.runtime, 'name-again', {
      forget: true,
      resolveLedger: (manifest) => resolveLedger(manifest, { env: lab.env, bundled: undefined }),
    });
    rmSync(join(loaded.baseDir, 'name-again', 'gone.json'));
    lab.writeFile('name-again', 'x0.json', [line('other-0')]);
    lab.writeFile('name-again', 'x1.json', [line('other-1')]);
    const report = { balanced: true, counts: { read: 5 } };
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
      kind: 'finished',
      report,
    });
    wake();
    expect(await sleepy).toMatchObject({ kind: 'superseded' });
    expect(await resumeMigration(lab.runtime, 'name-again', importing())).toMatchObject({ report });
    expect((await loadMigration(lab.runtime.staging, 'name-again'))?.files).toHaveLength(3);
    expect(await topUp(lab.runtime, loaded)).toMatchObject({ kind: 'finished', report });
  });
});

describe('a migration of which an earlier version staged files in the slice of another top-up', () => {
  /** All of them are staged in the slice that the only top-up noted. */
  async function finishAll(name: string) {
    const finished = await finish(name);
    finished.write(0, ALL);
    expect(await topUp(lab.runtime, finished.loaded)).toMatchObject({ kind: 'finished', report: IN });
    const [noted] = await listNoted(name);
    if (!noted) throw new Error('nothing was noted');
    return { ...finished, noted };
  }

  async function listNoted(name: string): Promise<TopUp[]> {
    const noted: TopUp[] = [];
    const record = await loadMigration(lab.runtime.staging, name);
    if (record) for await (const one of listTopUps(lab.runtime.staging, record)) noted.push(one);
    return noted;
  }

  /** Another top-up had noted these files before, to be staged together. */
  async function noteBefore(name: string, files: TopUp['files'], noted: TopUp) {
    const { staging } = lab.runtime;
    const { topUp: key } = layout(name);
    const first = { ...noted, files: files.map((file) => ({ ...file, slice: 'f'.repeat(12) })) };
    for (const [index, one] of [first, noted].entries())
      await staging.put(key(index + 1), encodeDocument(one));
  }

  it('stages none of them again', async () => {
    const { loaded, noted } = await finishAll('swapped');
    await noteBefore('swapped', noted.files.slice(0, FIRST), noted);
    const requests = lab.destination.requests.length;
    expect(await topUp(lab.runtime, loaded)).toMatchObject({ kind: 'finished', report: IN });
    expect(lab.destination.requests).toHaveLength(requests);
  });

  it('counts as repeats what is staged twice', async () => {
    const { loaded, noted, before } = await finishAll('doubled');
    lab.writeFile('doubled', 'y.json', [line('doubled-y')]);
    await expect(topUp(killedOnceNoted('doubled'), loaded)).rejects.toThrow('killed');
    const [, late] = await listNoted('doubled');
    await noteBefore('doubled', [...noted.files.slice(0, FIRST), ...(late?.files ?? [])], noted);
    expect(await topUp(lab.runtime, loaded)).toMatchObject({
      kind: 'finished',
      report: { balanced: true, counts: { delivered: 2 + ALL + 1, duplicate: FIRST } },
    });
    expect(lab.destination.events().size).toBe(before + ALL + 1);
    expect(await resumeMigration(lab.runtime, 'doubled', importing())).toMatchObject({ kind: 'finished' });
  });
});
