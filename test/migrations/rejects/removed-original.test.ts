import { afterAll, beforeAll, expect, it } from 'vitest';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { startMigration } from '../../../src/migrations/start.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { importing, keyedSource, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

/* Whatever was removed of a migration, its rejects can be replayed, and none of them takes the place of an event. */

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const record = (n: string, v: number, t = '2024-02-03T04:05:06Z') =>
  JSON.stringify({ e: 'counted', u: 'ann', t, n, v });

const remove = (name: string, keepRejects: boolean) =>
  removeMigration(lab.runtime, name, {
    keepRejects,
    resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
  });

const countKept = async (name: string): Promise<number> => {
  let kept = 0;
  for await (const _ of lab.runtime.staging.list(layout(name).allFingerprints)) kept += 1;
  return kept;
};

it('sends a reject that has the id of a delivered record under an id of its own, once those are gone', async () => {
  const name = 'gone';
  const loaded = await lab.writeManifest(name, { source: keyedSource(name), rejects: { failAbove: '100%' } });
  lab.writeFile(name, 'a.json', [
    record('gone-1', 1),
    record('gone-1', 2, 'late'),
    record('gone-1', 2, 'late'),
    record('gone-1', 1, 'late'),
    record('gone-2', 3, 'late'),
    record('gone-3', 4, 'never'),
    '{',
  ]);
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
    report: { counts: { delivered: 1, rejected: 6 } },
  });
  await remove(name, true);
  expect(await countKept(name)).toBe(1);

  const source = keyedSource(name, ['late']);
  const replay = async (of: string, words: object) =>
    replayRejects(
      lab.runtime,
      of,
      { loaded: await lab.writeManifest(name, { source: words, rejects: { failAbove: '100%' } }) },
      importing(),
    );
  expect(await replay(name, source)).toMatchObject({
    kind: 'finished',
    report: { counts: { read: 6, delivered: 3, duplicate: 1, rejected: 2 } },
  });
  const arrived = () =>
    [...lab.destination.events().values()]
      .map(({ properties }) => `${String(properties['n'])} ${String(properties['v'])}`)
      .filter((text) => text.startsWith('gone-'))
      .toSorted();
  expect(arrived()).toEqual(['gone-1 1', 'gone-1 2', 'gone-2 3']);

  // It goes with the rejects.
  await remove(name, false);
  expect(await countKept(name)).toBe(0);
});
