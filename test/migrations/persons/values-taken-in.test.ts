import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { LEDGERS } from '../../../src/state/keys/ledger.ts';
import { createPersonsWorld } from './persons-world.ts';

/** What a ledger that is made again knows of the values that others sent, or perhaps sent. */

const at = (day: number) => new Date(Date.UTC(2023, 0, day)).toISOString();
const set = (distinctId: string, day: number, values: Record<string, unknown>): IdentityFact => ({
  kind: 'person',
  distinctId,
  time: at(day),
  set: values,
});

/** A migration that had begun with values of a device that another one merged, and a ledger that came back empty. */
async function restoreBefore(of: readonly IdentityFact[]) {
  const world = createPersonsWorld({ overwrite: true });
  const backup = world.backUp();
  await world.add('begun', [set('device', 2, { plan: 'first', seats: 2, begun: true })]);
  await world.add('merging', [
    { kind: 'pair', anonId: 'device', userId: 'user', time: at(1) },
    set('device', 4, { plan: 'merged', seats: 4 }),
  ]);
  expect(await world.send('merging')).toBe('done');
  world.refuses = () => true;
  expect(await world.send('begun')).toMatchObject({ failed: expect.stringContaining('refused') });
  world.refuses = () => false;
  world.restore(backup);
  await world.add('begun', of);
  return world;
}

it('a newer value of an id that was merged meanwhile replaces what the destination has', async () => {
  const world = await restoreBefore([set('device', 5, { plan: 'newest' }), set('device', 7, { role: 'x' })]);
  await world.add('other', [set('user', 3, { role: 'y' })]);
  expect(await world.send('other')).toBe('done');
  expect(await world.send('begun')).toBe('done');
  const properties = { plan: 'newest', seats: 4, role: 'x', begun: true };
  expect(world.live.get('user')).toEqual({ ids: ['device', 'user'], properties });
});

it('an older value replaces nothing that was perhaps sent under the merged id', async () => {
  const world = await restoreBefore([set('device', 6, { plan: 'newest' })]);
  await world.add('other', [set('user', 5, { plan: 'older', seats: 5 })]);
  expect(await world.send('other')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'merged', seats: 5 });
  expect(await world.send('begun')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'newest', seats: 5, begun: true });
});

it('what a held migration was released with is known where it is resumed first', async () => {
  const world = createPersonsWorld({ overwrite: true });
  await world.add('held', [
    { kind: 'pair', anonId: 'device', userId: 'user', time: at(1) },
    set('device', 5, { plan: 'newest' }),
  ]);
  expect(await world.send('held', { hold: true })).toBe('done');
  const backup = world.backUp();
  expect(await world.send('release', { releases: ['held'] })).toBe('done');
  world.restore(backup);
  expect(await world.send('held', { hold: true })).toBe('done');
  await world.add('later', [set('device', 3, { plan: 'older' })]);
  expect(await world.send('later')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'newest' });
});

it.each(['device', 'user'])(
  'a value of a %s is missed in the ledger from its first request on',
  async (id) => {
    for (let call = 1; ; call += 1) {
      const world = createPersonsWorld({ overwrite: true });
      await world.add('first', [set(id, 5, { plan: 'newest' })]);
      expect(await world.send('first', { kill: { call, after: true } })).toBe('killed');
      if (!world.live.get(id)) continue;
      for (const key of world.objects.keys())
        if (key.startsWith(LEDGERS) && key.includes('/properties/')) world.objects.delete(key);
      const merge = { kind: 'pair', anonId: 'device', userId: 'user', time: at(1) } as const;
      await world.add('second', [merge, set('user', 3, { plan: 'older' })]);
      expect(await world.send('second')).toBe('done');
      expect(world.live.get('user')?.properties).toEqual({ plan: 'newest' });
      break;
    }
  },
);
