import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { createPersonsWorld } from './persons-world.ts';

const time = '2023-01-01T00:00:00.000Z';
const pair = (anonId: string, userId: string): IdentityFact => ({ kind: 'pair', anonId, userId, time });

it.each(['of nothing', 'of one turn'])(
  'a backup %s is noticed although the migration of the missing turns was removed',
  async (of) => {
    const world = createPersonsWorld({ overwrite: false });
    const earlier = world.backUp();
    await world.add('zero', [pair('phone', 'user')]);
    expect(await world.send('zero')).toBe('done');
    const backup = of === 'of nothing' ? earlier : world.backUp();
    await world.add('one', [pair('device', 'user')]);
    expect(await world.send('one')).toBe('done');
    expect(await world.remove('one')).toBe('done');

    world.restore(backup);
    await world.add('two', [pair('device', 'other')]);
    const stopped = {
      failed: expect.stringMatching(/cannot be made again, because the identity facts of "one" were removed/),
    };
    expect(await world.send('two')).toMatchObject(stopped);
    expect(await world.send('zero')).toMatchObject(stopped);
    expect(await world.remove('one', { forget: true })).toBe('done');
    expect(await world.send('two')).toBe('done');
    expect(world.live.merges()).toEqual(['phone → user', 'device → user']);
  },
);

it('each other migration costs a turn few requests to staging', async () => {
  const world = createPersonsWorld({ overwrite: false });
  const count = async (n: number) => {
    await world.add(`m${n}`, [pair(`device-${n}`, `user-${n}`)]);
    expect(await world.send(`m${n}`)).toBe('done');
    return world.calls;
  };
  const calls: number[] = [];
  for (let n = 0; n < 12; n += 1) calls.push(await count(n));
  const more = ((calls[11] ?? 0) - (calls[3] ?? 0)) / 8;
  expect(more).toBeLessThan(8);
});
