import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { ALL } from '../../support/form.ts';
import { createPersonsWorld, type PersonsWorld, type Stated } from './persons-world.ts';

const time = '2023-01-01T00:00:00.000Z';
const pair = (anonId: string, userId: string): IdentityFact => ({
  kind: 'pair',
  anonId,
  userId,
  time,
});
const seen = (person: string, id: string, isUser = false): Stated => ({
  kind: 'seen',
  person,
  id,
  isUser,
  time,
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

interface OfTwo {
  /** What one migration said before another one is sent. */
  readonly parts: readonly Stated[][];
  readonly isSent: boolean;
  readonly other: readonly Stated[];
  /** How often its receipts are listed meanwhile. */
  readonly listings: number;
  /** That there are in the end. */
  readonly merges: readonly string[];
}

const OF_TWO: Readonly<Record<string, OfTwo>> = {
  'says who has a person': {
    parts: [[seen('p', 'phone')], [seen('p', 'ada', true)]],
    isSent: true,
    listings: 3,
    other: [seen('p', 'tablet')],
    merges: ['phone → ada', 'tablet → ada'],
  },
  'is under way and says that a device is of two persons': {
    parts: [[seen('q', 'phone')], [seen('q', 'tablet'), seen('q', 'ada', true)]],
    isSent: false,
    listings: 5,
    other: [seen('p', 'tablet'), seen('p', 'bob', true)],
    merges: [],
  },
  'is under way and has the device with another user': {
    parts: [[seen('q', 'ada', true)], [pair('tablet', 'ada')]],
    isSent: false,
    listings: 5,
    other: [seen('p', 'tablet'), seen('p', 'bob', true)],
    merges: [],
  },
};

async function createTwo({ parts, isSent, other }: Omit<OfTwo, 'listings'>): Promise<PersonsWorld> {
  const world = createPersonsWorld({ overwrite: false });
  for (const part of parts) await world.add('one', part);
  if (isSent) expect(await world.send('one')).toBe('done');
  await world.add('two', other);
  return world;
}
const listMerges = (world: PersonsWorld) => [...world.live.merges()].sort();
const isOfOne = (key: string) => key === layout('one').receipt('f-1');

it.each(Object.entries(OF_TWO))(
  'decides over all facts of another migration that %s, where one listing hides a part of them',
  async (_name, two) => {
    const undisturbed = await createTwo(two);
    const listings: number[] = [];
    undisturbed.hides = (key, listing) => {
      if (isOfOne(key)) listings.push(listing);
      return false;
    };
    expect(await undisturbed.send('two')).toBe('done');
    expect(listMerges(undisturbed)).toEqual(two.merges);
    expect(listings).toHaveLength(two.listings);
    for (const late of listings) {
      const world = await createTwo(two);
      world.hides = (key, listing) => isOfOne(key) && listing === late;
      if ((await world.send('two')) !== 'done') expect(await world.send('two')).toBe('done');
      expect([late, ...listMerges(world)]).toEqual([late, ...two.merges]);
    }
  },
);

it('waits for listings of a finished migration that stay behind, also where persons are released', async () => {
  const behind = {
    failed: 'memory lists 1 of the 2 parts of "one" that were imported: its listings are behind',
  };
  const parts = [[seen('p', 'phone')], [seen('p', 'ada', true)]];
  const world = await createTwo({ parts, isSent: false, other: [seen('p', 'tablet')], merges: [] });
  expect(await world.send('one', { hold: true })).toBe('done');
  world.hides = isOfOne;
  expect(await world.send('two')).toEqual(behind);
  expect(await world.send('release', { releases: ['one'] })).toEqual(behind);
  expect(world.live.merges()).toEqual([]);
  world.hides = () => false;
  expect(await world.send('release', { releases: ['one'] })).toBe('done');
  expect(await world.send('two')).toBe('done');
  expect(listMerges(world)).toEqual(['phone → ada', 'tablet → ada']);
});

/** A migration that is killed at this call of its turn, and then the listings hide a part of it from another one. */
async function decideBehind(call: number, { isTopUp = false } = {}) {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('one', [seen('q', 'ada', true)]);
  if (isTopUp) expect(await world.send('one')).toBe('done');
  await world.add('one', [pair('tablet', 'ada')]);
  const ended = await world.send('one', { kill: { call, after: true } });
  const isCounted = [...world.objects].some(
    ([key, body]) => key.startsWith(layout('one').turns) && /"receipts": *\[\s*2\s*\]/.test(body.toString()),
  );
  await world.add('two', [seen('p', 'tablet'), seen('p', 'bob', true)]);
  world.hides = isOfOne;
  return { world, ended, isCounted, decided: await world.send('two') };
}

it.each([
  ['that nobody has sent anything of', {}],
  ['that was sent and is topped up', { isTopUp: true }],
])(
  'waits for listings of a migration %s that hide what a turn of it was about',
  async (_name, options) => {
    let waited = 0;
    for (let call = 1; ; call += ALL ? 1 : 5) {
      const { world, ended, isCounted, decided } = await decideBehind(call, options);
      if (ended === 'done') break;
      const behind = { failed: expect.stringContaining('lists 1 of the 2 parts of "one"') };
      expect([call, decided]).toEqual([call, isCounted ? behind : 'done']);
      if (!isCounted) continue;
      waited += 1;
      world.hides = () => false;
      expect([call, await world.send('two')]).toEqual([call, 'done']);
      expect([call, ...world.live.merges()]).not.toContain('tablet → bob');
    }
    expect(waited).toBeGreaterThan(10);
  },
  60_000,
);
