import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { layout } from '../../../src/state/keys.ts';
import { createPersonsWorld } from './persons-world.ts';

const pair = (anonId: string, userId: string): IdentityFact => ({
  kind: 'pair',
  anonId,
  userId,
  time: '2023-01-01T00:00:00.000Z',
});

/** A tablet of two users, each of whom is seen in a part of its own. */
async function createShared() {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('one', [pair('phone', 'ada')]);
  await world.add('one', [pair('tablet', 'ada')]);
  await world.add('one', [pair('tablet', 'bob')]);
  return { world, before: world.listings };
}
const isLast = (key: string) => key === layout('one').receipt('f-2');

it('merges no shared device where one listing hides the part that forbids it', async () => {
  const undisturbed = await createShared();
  expect(await undisturbed.world.send('one')).toBe('done');
  const most = undisturbed.world.listings - undisturbed.before;
  let hidden = 0;
  for (let late = 1; late <= most; late += 1) {
    const { world, before } = await createShared();
    world.hides = (key, listing) => {
      const isHidden = isLast(key) && listing === before + late;
      if (isHidden) hidden += 1;
      return isHidden;
    };
    if ((await world.send('one')) !== 'done') expect(await world.send('one')).toBe('done');
    expect([late, ...world.live.merges()]).toEqual([late, 'phone → ada']);
    expect(world.reported).toContain('shared_device tablet');
  }
  expect(hidden).toBeGreaterThan(3);
});

it('waits for listings that are behind, and says so', async () => {
  const { world } = await createShared();
  world.hides = isLast;
  expect(await world.send('one')).toEqual({
    failed: 'memory lists 2 of the 3 parts of "one" that were imported: its listings are behind',
  });
  expect(world.live.merges()).toEqual([]);
  world.hides = () => false;
  expect(await world.send('one')).toBe('done');
  expect(world.live.merges()).toEqual(['phone → ada']);
});
