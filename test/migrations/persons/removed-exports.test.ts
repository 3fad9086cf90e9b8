import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SharedDevices } from '../../../src/state/ledger/ledger.ts';
import { createPersonsWorld, type Kill, type PersonsWorld, type Stated } from './persons-world.ts';
import { anyRecord, anyStated, expectPersonsToHold, inTime, listMerges, RUNS } from './split-histories.ts';

/*
 * Exports of a vendor that has persons of its own, whose migrations are removed after they ended: what the vendor said
 * there forbids a merge as before (I11), whatever kills the removal. A merge may be missing then.
 */

const anyStepOf = <T>(fact: fc.Arbitrary<T>) =>
  fc.record({
    name: fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5'),
    facts: fc.array(fact, { minLength: 1, maxLength: 4 }),
    /** One that was given up before its persons were sent is removed all the same. */
    sends: fc.boolean(),
    removes: fc.boolean(),
    kill: fc.option(fc.record({ call: fc.integer({ min: 1, max: 200 }), after: fc.boolean() }), {
      nil: undefined,
    }),
  });

interface Step {
  readonly name: string;
  readonly facts: readonly Stated[];
  readonly sends: boolean;
  readonly removes: boolean;
  readonly kill?: Kill | undefined;
}

async function play(steps: readonly Step[], sharedDevices: SharedDevices): Promise<PersonsWorld> {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  const removed = new Set<string>();
  for (const { name, facts, sends, removes, kill } of steps) {
    if (removed.has(name)) continue;
    await world.add(name, facts);
    if (sends || !removes) expect(await world.send(name)).toBe('done');
    if (!removes) continue;
    removed.add(name);
    if ((await world.remove(name, { kill })) === 'killed') expect(await world.remove(name)).toBe('done');
  }
  return world;
}

it.each(['none', 'first', 'last'] as const)(
  'a removed migration forbids what it forbade before, shared devices: %s',
  async (policy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStepOf(anyStated), { minLength: 2, maxLength: 6 }), async (steps) => {
        const world = await play(steps, policy);
        for (const { merge, said } of world.merged)
          expect(await listMerges(world.said.slice(0, said), policy)).toContain(merge);
      }),
      { numRuns: RUNS },
    );
  },
  600_000,
);

it.each(['none', 'first', 'last'] as const)(
  'and so it does where users have other ids by now, shared devices: %s',
  async (policy) => {
    const anySteps = fc.array(anyStepOf(anyRecord), { minLength: 2, maxLength: 6 }).map(inTime);
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => expectPersonsToHold(await play(steps, policy), policy)),
      { numRuns: RUNS },
    );
  },
  600_000,
);

it('is removed by the same command, wherever that was killed while it made the first ledger', async () => {
  for (let call = 1, ended = ''; ended !== 'done'; call += 1)
    for (const after of [false, true]) {
      const world = createPersonsWorld({ overwrite: false, sharedDevices: 'none' });
      await world.add('m0', [pair('device', 'user')]);
      ended = String(await world.remove('m0', { kill: { call, after } }));
      expect(await world.remove('m0'), `killed at call ${call}`).toBe('done');
      await world.add('m1', [pair('device', 'another')]);
      expect(await world.send('m1'), `killed at call ${call}`).toBe('done');
      expect(world.merged).toEqual([]);
    }
});

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
  const { merges, reported } = await playRemoving(
    [seen('1', 'a1')],
    [seen('1', 'u1'), seen('2', 'u2'), seen('2', 'a1')],
  );
  expect(merges).toEqual([]);
  expect(reported.toSorted()).toEqual(['removed_person 1', 'removed_person a1']);
});

it('says that devices of a person were named by facts that were removed, once its user is known', async () => {
  const { merges, reported } = await playRemoving(
    [seen('1', 'a1'), seen('1', 'a2')],
    [seen('1', 'u1'), seen('1', 'a1')],
  );
  expect(merges).toEqual(['a1 → u1']);
  expect(reported).toContain('removed_person 1');
});

it.each([
  ['alone', [seen('1', 'u1')], [seen('1', 'a1')]],
  ['of a person that is joined with it', [seen('1', 'u1')], [seen('2', 'a1'), join('2', '1')]],
  ['of a person that was joined with it', [seen('1', 'u1'), join('2', '1')], [seen('1', 'a1')]],
])('says that the user of a device was named by facts that were removed: %s', async (_, before, later) => {
  expect(await playRemoving(before, later)).toEqual({
    merges: [],
    reported: ['removed_person 1'],
  });
});

it.each(['first', 'last'] as const)(
  'such a device is of nobody under the policy %s either, as the user of its person is not known',
  async (policy) => {
    const later = [seen('1', 'u1'), seen('2', 'u2'), seen('2', 'a1')];
    const { merges, reported } = await playRemovingUnder(policy, [seen('1', 'a1')], later);
    expect(merges).toEqual([]);
    expect(reported.toSorted()).toEqual(['removed_person 1', 'removed_person a1']);
  },
);

it('such a device is merged where the same person has its user', async () => {
  const { merges, reported } = await playRemoving([seen('1', 'a1')], [seen('1', 'u1'), seen('1', 'a1')]);
  expect({ merges, reported }).toEqual({ merges: ['a1 → u1'], reported: [] });
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

const alias = (from: string, to: string): readonly Stated[] => [
  pair(from, to),
  { kind: 'rename', from, to, time },
];
const shared: readonly Stated[] = [seen('1', 'u1'), seen('1', 'u2'), seen('1', 'a1')];

it.each([
  ['the name', alias('u1', 'u2'), [[...shared, pair('a1', 'u3')]]],
  ['the name, and the person came between', alias('u1', 'u2'), [shared, [pair('a1', 'u3')]]],
  ['the person', shared, [[...alias('u1', 'u2'), pair('a1', 'u3')]]],
  ['the person, and the name came between', shared, [alias('u1', 'u2'), [pair('a1', 'u3')]]],
  ['the users of the person', shared.slice(0, 2), [shared.slice(2), alias('u1', 'u2'), [pair('a1', 'u3')]]],
] as const)(
  'a device of two users of a person that are one by a name is not merged into another one, removed: %s',
  async (_, before, after) => {
    const { merges, reported } = await playRemoving(before, ...after);
    expect(merges).not.toContain('a1 → u3');
    expect(reported).toContain('removed_person a1');
  },
);

it('under the policy last, a device that was seen with both names of a user is of nobody where the name was removed', async () => {
  const at = (userId: string, hour: number): Stated => ({
    ...pair('a1', userId),
    time: `2023-01-01T0${hour}:00:00.000Z`,
  });
  const later = [at('u1', 1), at('u3', 2), at('u2', 3)];
  const { merges, reported } = await playRemovingUnder('last', alias('u1', 'u2'), later);
  expect(merges).toEqual(['u1 → u2']);
  expect(reported).toContain('shared_device a1');
});
