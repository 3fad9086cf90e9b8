import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { planMigration } from '../../../src/migrations/plan.ts';
import { toPlanAliveKey, toPlanPrefix, toPlanRunPrefix } from '../../../src/state/keys/plan.ts';
import { line, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

async function plan(name: string, staging: Staging = lab.runtime.staging) {
  const loaded = await lab.writeManifest(name);
  lab.writeFile(
    name,
    'a.json',
    [1, 2, 3].map((n) => line(`${name}-${n}`)),
  );
  const planned = await planMigration({ ...lab.runtime, openStaging: async () => staging }, loaded, {
    recordsPerFile: 10,
    full: { env: lab.env, signal: new AbortController().signal },
  });
  return planned.kind === 'planned' ? planned.full?.counts : planned;
}

const listLeft = async (name: string) => {
  const left: string[] = [];
  for await (const { key } of lab.runtime.staging.list(toPlanPrefix(name))) left.push(key);
  return left;
};

it('two of one name at once count the same as one alone, and leave nothing', async () => {
  const { staging } = lab.runtime;
  let other: Promise<unknown> | undefined;
  const sleepy: Staging = {
    ...staging,
    // Its part is there, and was not read.
    async create(key, body) {
      const created = await staging.create(key, body);
      other ??= plan('twice');
      await other;
      return created;
    },
  };
  const counts = { read: 3, delivered: 3 };
  expect(await plan('twice', sleepy)).toMatchObject(counts);
  expect(await other).toMatchObject(counts);
  expect(await listLeft('twice')).toEqual([]);
});

it('removes what others left that were killed, and leaves alone those that are under way', async () => {
  const { staging } = lab.runtime;
  const put = (key: string, body = 'x') => staging.put(key, Buffer.from(body));
  const begin = async (run: string, ageMs: number) => {
    const prefix = toPlanRunPrefix('left', run);
    const at = new Date(Date.now() - ageMs).toISOString();
    await put(toPlanAliveKey(prefix), JSON.stringify({ at }));
    await put(`${prefix}findings/1.gz`);
    return prefix;
  };
  await begin('killed', 11 * 60_000);
  const living = await begin('living', 9 * 60_000);
  await put(`${toPlanRunPrefix('left', 'silent')}findings/1.gz`);
  await put(`${toPlanPrefix('left')}parts/1/00000.json`); // of an earlier version
  expect(await plan('left')).toMatchObject({ read: 3 });
  expect(await listLeft('left')).toEqual([toPlanAliveKey(living), `${living}findings/1.gz`]);
});
