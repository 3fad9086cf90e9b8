import { afterAll, beforeAll, expect, it } from 'vitest';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { importing, type MigrationLab, openMigrationLab, stageOnly } from '../../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const TEXT = JSON.stringify({ email: 'ada@example.com', plan: 'pro' });
const toLine = (n: string, user: unknown) =>
  JSON.stringify({ ...{ e: 'counted', u: `user-${n}`, n, user }, ...{ day: 'yesterday', t: '2024-02-03' } });

const toManifest = (name: string, time: string, more: object = {}) =>
  lab.writeManifest(name, {
    rejects: { failAbove: '100%' },
    source: {
      type: 'jsonl',
      from: `${name}/b.json`,
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: time },
        key: ['n'],
        ...more,
      },
    },
  });

/** A migration under version 2 of the mapping, all records of which are rejected. */
async function begin(name: string, users: readonly unknown[], more: object = {}) {
  const { staging } = lab.runtime;
  const { record } = layout(name);
  lab.writeFile(
    name,
    'b.json',
    users.map((user, index) => toLine(`${name}-${index}`, user)),
  );
  await startMigration(lab.runtime, await toManifest(name, 'day', more), stageOnly('until it is pinned'));
  const created = (await staging.get(record))?.toString() ?? '';
  await staging.put(record, Buffer.from(created.replace(/jsonl@\d+/, 'jsonl@2')));
  expect(await resumeMigration(lab.runtime, name, importing())).toMatchObject({
    report: { counts: { rejected: users.length } },
  });
}

const replay = async (name: string, more: object) =>
  replayRejects(lab.runtime, name, { loaded: await toManifest(name, 't', more) }, importing());

const listUsers = (name: string) =>
  [...lab.destination.events().values()]
    .filter(({ distinctId }) => distinctId.startsWith(`user-${name}`))
    .map(({ properties }) => properties['user']);

it('refuses a replay under version 2 that would send text with what its manifest leaves out', async () => {
  await begin('texts', [{ email: 'eve@example.com' }, TEXT]);
  await expect(replay('texts', { exclude: ['user.email'] })).rejects.toThrow(
    /"texts" was begun with mapping jsonl@2, which does not look for what source\.mapping\.exclude names in the text of user,.*nothing was sent/,
  );
  expect(listUsers('texts')).toEqual([]);
  await replay('texts', { exclude: ['user.email'], jsonColumns: ['user'] });
  expect(listUsers('texts')).toEqual([undefined, { plan: 'pro' }]);
});

it('takes what no record has as text, and what the migration was begun with', async () => {
  await begin('objects', [{ email: 'eve@example.com', plan: 'pro' }, 'no object']);
  await replay('objects', { exclude: ['user.email'] });
  expect(listUsers('objects')).toEqual([{ plan: 'pro' }, 'no object']);
  const exclude = ['user.email'];
  await begin('begun', [TEXT], { exclude });
  await replay('begun', { exclude });
  expect(listUsers('begun')).toEqual([TEXT]);
});
