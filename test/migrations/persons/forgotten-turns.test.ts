import { expect, it } from 'vitest';
import { encodeDocument } from '../../../src/state/document.ts';
import { ALL } from '../../support/form.ts';
import { createPersonsWorld, type Stated } from './persons-world.ts';

/* A turn that was cut off, and hashes of its ledger that were dropped since: what it had decided holds no more. */

const pair = (anonId: string, userId: string, hour: number): Stated => ({
  kind: 'pair',
  anonId,
  userId,
  time: `2023-01-01T0${hour}:00:00.000Z`,
});

async function begin() {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('old', [pair('u1', 'u9', 1)]);
  expect(await world.send('old')).toBe('done');
  await world.add('later', [pair('a1', 'u1', 2), pair('a5', 'u5', 2)]);
  return world;
}

it('a turn that was killed at any call merges nothing once its ledger has forgotten', async () => {
  for (let call = 60; ; call += ALL ? 1 : 12) {
    const world = await begin();
    const ended = await world.send('later', { kill: { call, after: call % 2 === 0 } });
    const before = [...world.live.merges()];
    expect([call, await world.remove('old', { forget: true })]).toEqual([call, 'done']);
    expect([call, await world.send('later')]).toEqual([call, 'done']);
    expect([call, ...world.live.merges()]).toEqual([call, ...before]);
    if (ended === 'done') return;
  }
}, 120_000);

it('a turn that is under way sends no merge once its ledger has forgotten', async () => {
  const world = await begin();
  const [key = ''] = [...world.objects.keys()].filter((one) => /^_ledgers\/\w+\/ledger\.json$/.test(one));
  const forget = () => {
    const document = JSON.parse(world.objects.get(key)?.toString('utf8') ?? '') as object;
    const salt = '0'.repeat(64);
    world.objects.set(key, encodeDocument({ ...document, salt, forgottenAt: '2024-01-01T00:00:00.000Z' }));
  };
  world.hides = () => {
    const isResolved = [...world.objects.keys()].some(
      (one) => one.startsWith('later/people/work/') && one.includes('/resolved/'),
    );
    if (isResolved) forget();
    return false;
  };
  expect(await world.send('later')).toMatchObject({ failed: expect.stringContaining('was forgotten while') });
  expect(await world.send('later')).toBe('done');
  expect(world.live.merges()).toEqual(['u1 → u9']);
});
