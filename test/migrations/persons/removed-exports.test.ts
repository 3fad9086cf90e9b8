import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPersonsWorld, type Stated } from './persons-world.ts';
import { anyStated, listMerges, RUNS } from './split-histories.ts';

/*
 * Exports of a vendor that has persons of its own, whose migrations are removed after they ended: what the vendor said
 * there forbids a merge as before (I11), whatever kills the removal. A merge may be missing then.
 */

const anyStep = fc.record({
  name: fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5'),
  facts: fc.array(anyStated, { minLength: 1, maxLength: 4 }),
  removes: fc.boolean(),
  kill: fc.option(fc.record({ call: fc.integer({ min: 1, max: 200 }), after: fc.boolean() }), {
    nil: undefined,
  }),
});

it.each(['none', 'first', 'last'] as const)(
  'a removed migration forbids what it forbade before, shared devices: %s',
  async (policy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 6 }), async (steps) => {
        const world = createPersonsWorld({ overwrite: false, sharedDevices: policy });
        const removed = new Set<string>();
        for (const { name, facts, removes, kill } of steps) {
          if (removed.has(name)) continue;
          await world.add(name, facts);
          expect(await world.send(name)).toBe('done');
          if (!removes) continue;
          removed.add(name);
          if ((await world.remove(name, { kill })) === 'killed') await world.remove(name);
        }

        for (const { merge, said } of world.merged)
          expect(await listMerges(world.said.slice(0, said), policy)).toContain(merge);
      }),
      { numRuns: RUNS },
    );
  },
  600_000,
);

const time = '2023-01-01T00:00:00.000Z';
const seen = (person: string, id: string): Stated => ({
  kind: 'seen',
  person,
  id,
  isUser: id.startsWith('u'),
  time,
});
const pair = (anonId: string, userId: string): Stated => ({ kind: 'pair', anonId, userId, time });
const join = (person: string, into: string): Stated => ({ kind: 'join', person, into, time });

type Policy = 'none' | 'first' | 'last';

async function playRemoving(before: readonly Stated[], ...after: readonly (readonly Stated[])[]) {
  return playRemovingUnder('none', before, ...after);
}

async function playRemovingUnder(
  sharedDevices: Policy,
  before: readonly Stated[],
  ...after: readonly (readonly Stated[])[]
) {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  await world.add('m0', before);
  expect(await world.send('m0')).toBe('done');
  expect(await world.remove('m0')).toBe('done');
  for (const [number, facts] of after.entries()) {
    await world.add(`m${number + 1}`, facts);
    expect(await world.send(`m${number + 1}`)).toBe('done');
  }
  return { merges: world.live.merges(), reported: [...world.reported] };
}

it('a device of a person without a user is not merged by what comes after its facts were removed', async () => {
  expect(await playRemoving([seen('1', 'a1')], [seen('1', 'u1'), seen('2', 'u2'), seen('2', 'a1')])).toEqual({
    merges: [],
    reported: ['removed_person a1'],
  });
});

it.each(['first', 'last'] as const)(
  'such a device is of nobody under the policy %s either, as the user of its person is not known',
  async (policy) => {
    const later = [seen('1', 'u1'), seen('2', 'u2'), seen('2', 'a1')];
    expect(await playRemovingUnder(policy, [seen('1', 'a1')], later)).toEqual({
      merges: [],
      reported: ['removed_person a1'],
    });
  },
);

it('such a device is merged where the same person has its user', async () => {
  const { merges } = await playRemoving([seen('1', 'a1')], [seen('1', 'u1'), seen('1', 'a1')]);
  expect(merges).toEqual(['a1 → u1']);
});

it('the user of a person is known after its facts were removed', async () => {
  const { merges } = await playRemoving([seen('1', 'u1')], [seen('1', 'a1'), pair('a1', 'u2')]);
  expect(merges).toEqual([]);
});

it.each(['first', 'last'] as const)('and so it is under the policy %s', async (policy) => {
  const later = [seen('1', 'a1'), pair('a1', 'u2')];
  expect((await playRemovingUnder(policy, [seen('1', 'u1')], later)).merges).toEqual([]);
});

it('of a person with such a user, the device is merged that is seen with it', async () => {
  const { merges } = await playRemoving([seen('1', 'u1')], [seen('1', 'a1'), pair('a1', 'u1')]);
  expect(merges).toEqual(['a1 → u1']);
});

it('persons that were joined by facts that are gone are nobody any more', async () => {
  const { merges, reported } = await playRemoving([join('1', '2')], [seen('1', 'a1'), seen('1', 'u1')]);
  expect({ merges, reported }).toEqual({ merges: [], reported: ['removed_person 1'] });
});

it('joins that are gone and come again are as they were', async () => {
  const { merges } = await playRemoving([join('1', '2')], [join('1', '2'), seen('1', 'a1'), seen('2', 'u1')]);
  expect(merges).toEqual(['a1 → u1']);
});

it('joins of which only some come again leave nobody known', async () => {
  const { merges } = await playRemoving(
    [join('1', '2'), join('2', '3')],
    [join('1', '2'), seen('1', 'a1'), seen('1', 'u1')],
  );
  expect(merges).toEqual([]);
});

it('the user of a person is known under the name that it has by now', async () => {
  const { merges } = await playRemoving(
    [seen('2', 'u2')],
    [join('1', '2'), seen('1', 'a1'), seen('1', 'u1')],
  );
  expect(merges).toEqual([]);
});
