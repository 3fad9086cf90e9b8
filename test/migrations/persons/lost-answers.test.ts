import { expect, it } from 'vitest';
import { createPersonsWorld, type Stated } from './persons-world.ts';

/*
 * S3 clients repeat a request whose answer was lost. Where it created an object, the second answer says that there is one
 * already, which must not be taken for that of another process.
 */

const time = '2024-01-01T00:00:00.000Z';
const says = (anonId: string, userId: string): Stated[] => [
  { kind: 'pair', anonId, userId, time },
  { kind: 'person', distinctId: userId, time, set: { plan: `of ${userId}` } },
];

/** One is held, another one is taken in by the next, all sent together, or some of them are removed. */
async function play(loses: (created: number) => boolean, isReleasedAlone: boolean) {
  const world = createPersonsWorld({ overwrite: true });
  let created = 0;
  world.losesAnswer = (key) => {
    if (!/^_ledgers\/|\/people\//.test(key)) return false;
    created += 1;
    return loses(created);
  };
  await world.add('h1', says('a2', 'u1'));
  if (isReleasedAlone) {
    // The ledger knows nothing else, and is emptied.
    const ends = [await world.send('h1', { hold: true }), await world.send('r1', { releases: ['h1'] })];
    return { ends, created, merges: world.live.merges(), persons: world.live.list() };
  }
  await world.add('m1', says('a1', 'u1'));
  await world.add('m2', says('a1', 'u2'));
  const ends = [
    await world.send('m2'),
    await world.send('h1', { hold: true }),
    await world.send('m1'),
    await world.send('r1', { releases: ['h1'] }),
    await world.remove('m1'),
  ];
  await world.add('m3', says('a2', 'u2'));
  ends.push(await world.send('m3'), await world.remove('m3'));
  return { ends, created, merges: world.live.merges(), persons: world.live.list() };
}

for (const isReleasedAlone of [true, false])
  it(`${isReleasedAlone ? 'where a ledger is emptied' : 'in several migrations'}, a lost answer ends no run and changes nothing of persons`, async () => {
    const whole = await play(() => false, isReleasedAlone);
    expect(new Set(whole.ends)).toEqual(new Set(['done']));
    expect(whole.merges).toEqual(['a2 → u1']);
    const { ends, merges, persons } = whole;
    for (let lost = 1; lost <= whole.created; lost += 1) {
      const { created: _, ...one } = await play((created) => created === lost, isReleasedAlone);
      expect({ lost, ...one }).toEqual({ lost, ends, merges, persons });
    }
  });
