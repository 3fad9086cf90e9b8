import { expect, it } from 'vitest';
import { ALL } from '../../support/form.ts';
import { createPersonsWorld, type PersonsWorld, type Stated } from './persons-world.ts';

/*
 * A merge that is sent again has the day of the first time: a destination takes an event for a repeat only where uuid,
 * name, distinct_id and day are the same.
 */

const pair = (day: number): Stated => ({
  kind: 'pair',
  anonId: 'a1',
  userId: 'u1',
  time: `2023-01-0${day}T10:00:00.000Z`,
});

/** Kills `old`, which was seen first on day 2, at each of its calls in turn, and lets others go on. */
async function atEachKill(goOn: (world: PersonsWorld) => Promise<void>): Promise<void> {
  let sentTwice = 0;
  for (let call = 1; ; call += ALL ? 1 : 3) {
    const world = createPersonsWorld({ overwrite: false });
    await world.add('old', [pair(2)]);
    const ended = await world.send('old', { kill: { call, after: true } });
    if (ended === 'done') break;
    const before = world.live.merges().length;
    await goOn(world);
    expect(await world.send('old')).toBe('done');
    expect([call, ...world.live.merges()]).toEqual([call, 'a1 → u1']);
    sentTwice += before;
  }
  expect(sentTwice).toBeGreaterThan(0);
}

it('by another migration that saw the pair on another day', async () => {
  await atEachKill(async (world) => {
    await world.add('next', [pair(1)]);
    expect(await world.send('next')).toBe('done');
  });
}, 120_000);

it('by the same one, which was topped up with an earlier file', async () => {
  await atEachKill((world) => world.add('old', [pair(1)]));
}, 120_000);

it('by another one, after the ledger was lost', async () => {
  await atEachKill(async (world) => {
    world.restore(new Map());
    await world.add('next', [pair(3)]);
    expect(await world.send('next')).toBe('done');
  });
}, 120_000);

it('by a third one, after two that were interrupted', async () => {
  await atEachKill(async (world) => {
    await world.add('next', [pair(3)]);
    await world.send('next', { kill: { call: world.calls, after: true } });
    await world.add('last', [pair(1)]);
    expect(await world.send('last')).toBe('done');
  });
}, 120_000);
