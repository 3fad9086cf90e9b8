import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { findHeld, sendHeldPersons } from '../../../src/migrations/persons/send-held.ts';
import { createRecord } from '../../../src/migrations/prepare/create-record.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resumeMigration } from '../../../src/migrations/start.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { createPersonsBench, type PersonsBench, runOptions } from './persons-bench.ts';

/** `rm` of a migration whose persons another process begins to send at that moment. */

let bench: PersonsBench;
beforeEach(async () => {
  bench = await createPersonsBench();
  onTestFinished(() => bench.close());
  await bench.run('h1', [{ user: 'rosa', device: 'phone' }], { persons: 'hold' });
  await bench.run('h2', [{ user: 'tom', device: 'tablet' }], { persons: 'hold' });
});

/** Another process does something just before an object is created. */
function before(prefix: string, meanwhile: () => Promise<unknown>) {
  const { staging } = bench.runtime;
  let waiting: (() => Promise<unknown>) | undefined = meanwhile;
  const watched: Staging = Object.assign(Object.create(staging), {
    async create(key: string, body: Buffer) {
      const once = key.startsWith(prefix) ? waiting : undefined;
      if (once) waiting = undefined;
      await once?.();
      return staging.create(key, body);
    },
  });
  return { ...bench.runtime, staging: watched };
}

const forget = (name: string, runtime = bench.runtime) =>
  removeMigration(runtime, name, { forget: true, resolveLedger: () => expect.unreachable() });
const find = async (...names: string[]) =>
  (await findHeld(bench.runtime.staging, { kind: 'names', names })) ?? expect.fail('nothing is held');
const cancel = (name: string) => cancelMigration(bench.runtime, name, '');

it('a release that finds one of its migrations removed ends, and the others are sent without it', async () => {
  const held = await find('h1', 'h2');
  const runtime = before(layout('h1.persons-1').record, () => forget('h2'));
  const removed =
    /"h2" was removed before "h1\.persons-1" had sent its persons.*"backhaul cancel h1\.persons-1".*backhaul persons send h1$/;
  await expect(sendHeldPersons(runtime, held, runOptions)).rejects.toThrow(removed);
  await expect(resumeMigration(bench.runtime, 'h1.persons-1', runOptions)).rejects.toThrow(removed);

  await cancel('h1.persons-1');
  expect(await sendHeldPersons(bench.runtime, await find('h1'), runOptions)).toMatchObject({
    kind: 'finished',
    migration: 'h1.persons-2',
  });
  await forget('h1');
  expect(await resumeMigration(bench.runtime, 'h1.persons-2', runOptions)).toMatchObject({
    kind: 'finished',
  });
});

it('a removal that finds a release removes nothing before that has ended', async () => {
  const { staging } = bench.runtime;
  const { manifest, baseDir } = await loadStoredManifest(staging, 'h1');
  const release = { manifest: { ...manifest, name: 'h1.persons-1' }, baseDir };
  const begin = () => createRecord(bench.runtime, release, [], undefined, { releases: ['h1', 'h2'] });
  const [folder = ''] = layout('h2').facts;
  const listFacts = async () => {
    const keys: string[] = [];
    for await (const { key } of staging.list(folder)) keys.push(key);
    return keys;
  };
  const facts = await listFacts();
  expect(facts).not.toEqual([]);
  await expect(forget('h2', before(layout('h2').controls, begin))).rejects.toThrow(
    'migration "h1.persons-1" has begun to send the persons of "h2" and has not finished: resume or cancel it first',
  );
  expect(await listFacts()).toEqual(facts);

  await cancel('h1.persons-1');
  await forget('h2');
  expect(await listFacts()).toEqual([]);
});
