import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { ledgerLockKey } from '../../../src/migrations/persons/lock/ledger-lock.ts';
import { THIS_PLACE } from '../../../src/migrations/run/this-place.ts';
import { toLedgerAccess } from '../../../src/state/ledger/ledger.ts';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';

/** A project whose key was changed: manifests with its name join what was sent under either key. */

let bench: PersonsBench;
beforeEach(async () => {
  bench = await createPersonsBench();
  onTestFinished(() => bench.close());
});

const at = (apiKey: string, project?: string) => ({
  destination: { url: bench.destination.url, apiKey, ...(project === undefined ? {} : { project }) },
});

it('what the name was sent under its former key forbids merges under the next key alone', async () => {
  await bench.run('before', [{ user: 'rosa', device: 'kiosk' }], at('${KEY}', 'shop'));
  await bench.run('after', [{ user: 'sven', device: 'phone' }], at('${NEXT_KEY}', 'shop'));
  const { people } = await bench.run('unnamed', [{ user: 'tom', device: 'kiosk' }], at('${NEXT_KEY}'));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  expect(bench.takeSent().merges).toEqual(['kiosk → rosa', 'phone → sven']);
});

it('what was sent under the former key alone forbids merges under the name and the next key', async () => {
  await bench.run('before', [{ user: 'sven', device: 'phone' }], at('${KEY}', 'shop'));
  await bench.run('unnamed', [{ user: 'rosa', device: 'kiosk' }], at('${KEY}'));
  const { people } = await bench.run('after', [{ user: 'tom', device: 'kiosk' }], at('${NEXT_KEY}', 'shop'));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  expect(bench.takeSent().merges).toEqual(['kiosk → rosa', 'phone → sven']);
});

it('another project stays another one, under whatever key', async () => {
  await bench.run('shop', [{ user: 'rosa', device: 'kiosk' }], at('${KEY}', 'shop'));
  await bench.run('store', [{ user: 'tom', device: 'kiosk' }], at('${NEXT_KEY}', 'store'));
  await bench.run('alone', [{ user: 'una', device: 'kiosk' }], at('${NEXT_KEY}'));
  expect(bench.takeSent().merges).toEqual(['kiosk → rosa', 'kiosk → tom']);
});

it('a migration that names its project waits for those that send with its key alone', async () => {
  const { url } = bench.destination;
  const { id } = toLedgerAccess({ url, project: undefined, apiKey: 'phc_persons' });
  const { redis } = bench.runtime;
  // What a process that has ended left behind is removed by whoever needs the lock, and by nobody else.
  const holder = { migration: 'm', name: 'unnamed', token: 't', ...THIS_PLACE, pid: 2 ** 30 };
  await redis.set(ledgerLockKey(id), JSON.stringify(holder));
  await bench.run('named', [{ user: 'rosa', plan: 'a' }], at('${KEY}', 'shop'));
  expect(await redis.exists(ledgerLockKey(id))).toBe(0);
});
