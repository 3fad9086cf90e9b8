import fc from 'fast-check';
import { expect, it } from 'vitest';
import { layout } from '../../../src/state/keys/migration.ts';
import type { SharedDevices } from '../../../src/state/ledger/ledger.ts';
import { createPersonsWorld, type PersonsWorld, type Stated } from './persons-world.ts';
import {
  anyRecord,
  anyStated,
  expectPersonsToHold,
  inTime,
  listMerges,
  PERSONS,
  RUNS,
  USERS,
} from './split-histories.ts';

/*
 * Exports of a vendor that has persons of its own, cut into migrations anyhow, some of them held: what the vendor said
 * of a person in one of them counts in all (I11). Each merge holds over all that was said when it was sent, and none
 * is missing in the end.
 */

/** To the migration of this name; those that begin with an h hold their persons. Without facts these are released. */
const anyStepOf = <T>(fact: fc.Arbitrary<T>) =>
  fc.record({
    name: fc.constantFrom('m1', 'm2', 'h1', 'h2'),
    facts: fc.array(fact, { maxLength: 4 }),
  });

async function play(
  steps: readonly { readonly name: string; readonly facts: readonly Stated[] }[],
  sharedDevices: SharedDevices,
): Promise<PersonsWorld> {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  const held = new Set<string>();
  let releases = 0;
  const release = async () => {
    if (held.size === 0) return;
    expect(await world.send(`r${++releases}`, { releases: [...held] })).toBe('done');
    held.clear();
  };
  for (const { name, facts } of steps) {
    if (facts.length === 0) {
      await release();
      continue;
    }
    await world.add(name, facts);
    const hold = name.startsWith('h');
    expect(await world.send(name, { hold })).toBe('done');
    if (hold) held.add(name);
  }
  await release();
  return world;
}

it.each(['none', 'first', 'last'] as const)(
  'a split export merges whom the whole one merges, shared devices: %s',
  async (policy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStepOf(anyStated), { minLength: 2, maxLength: 5 }), async (steps) => {
        const world = await play(steps, policy);
        for (const { merge, said } of world.merged)
          expect(await listMerges(world.said.slice(0, said), policy)).toContain(merge);
        const isSaid = (reason: string) => (id: string) => world.reported.has(`${reason} ${id}`);
        const persons = (device: string) =>
          world.said.some((fact) => fact.kind === 'seen' && fact.id === device) ? PERSONS : [];
        for (const merge of await listMerges(world.said, policy)) {
          const [device = '', user = ''] = merge.split(' → ');
          // By what was known for a while it was shared or another one's; neither ledger nor destination forgets that.
          const isReported =
            ['shared_device', 'merged_otherwise', 'contradicted_merge'].some((reason) =>
              isSaid(reason)(device),
            ) || persons(device).some(isSaid('several_users'));
          if (!isReported) expect(world.live.get(device)?.ids ?? []).toContain(user);
        }
      }),
      { numRuns: RUNS },
    );
  },
  600_000,
);

it.each(['none', 'first', 'last'] as const)(
  'where users have other ids by now, it merges nobody whom the whole one keeps apart, shared devices: %s',
  async (policy) => {
    const anySteps = fc.array(anyStepOf(anyRecord), { minLength: 2, maxLength: 5 }).map(inTime);
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => expectPersonsToHold(await play(steps, policy), policy)),
      { numRuns: RUNS },
    );
  },
  600_000,
);

const seen = (person: string, id: string, hour: number): Stated => ({
  kind: 'seen',
  person,
  id,
  isUser: USERS.includes(id),
  time: `2023-01-01T0${hour}:00:00.000Z`,
});

it('leaves a device of a held export to it, although another one has its user', async () => {
  const merges = async (laterUser: string) => {
    const world = createPersonsWorld({ overwrite: false });
    await world.add('h1', [seen('1', 'a1', 1), seen('2', 'a3', 1)]);
    expect(await world.send('h1', { hold: true })).toBe('done');
    await world.add('m1', [
      seen('1', 'u1', 2),
      seen('1', 'a2', 2),
      { kind: 'join', person: '2', into: '1', time: '2023-01-01T03:00:00.000Z' },
    ]);
    expect(await world.send('m1')).toBe('done');
    expect(world.live.merges()).toEqual(['a2 → u1']);
    await world.add('h2', [
      { kind: 'pair', anonId: 'a1', userId: laterUser, time: '2023-01-01T04:00:00.000Z' },
    ]);
    expect(await world.send('h2', { hold: true })).toBe('done');
    expect(await world.send('r', { releases: ['h1', 'h2'] })).toBe('done');
    return world.live.merges().toSorted();
  };
  expect(await merges('u1')).toEqual(['a1 → u1', 'a2 → u1', 'a3 → u1']);
  expect(await merges('u2')).toEqual(['a2 → u1', 'a3 → u1']);
});

it.each([
  ['first', 'a2 → u3'],
  ['last', 'a2 → u1'],
] as const)(
  'takes the first time of a user with a device, by pair or by verdict, shared devices: %s',
  async (policy, merge) => {
    const steps: Stated[][] = [
      [{ kind: 'pair', anonId: 'a2', userId: 'u3', time: '2023-01-01T03:00:00.000Z' }],
      [seen('3', 'u3', 0), { kind: 'pair', anonId: 'a2', userId: 'u1', time: '2023-01-01T02:00:00.000Z' }],
      [seen('3', 'a2', 0)],
    ];
    expect(await listMerges(steps.flat(), policy)).toEqual([merge]);
    const world = createPersonsWorld({ overwrite: false, sharedDevices: policy });
    for (const [index, facts] of steps.entries()) {
      const name = index === 0 ? 'h1' : 'm1';
      await world.add(name, facts);
      expect(await world.send(name, { hold: index === 0 })).toBe('done');
    }
    expect(world.live.merges()).toEqual([merge]);
  },
);

it.each(['first', 'last'] as const)(
  'a verdict that was taken back does not say since when a device was seen with its user, shared devices: %s',
  async (policy) => {
    const at = (userId: string, hour: number): Stated => ({
      kind: 'pair',
      anonId: 'a2',
      userId,
      time: `2023-01-01T0${hour}:00:00.000Z`,
    });
    const steps: (readonly [string, readonly Stated[]])[] = [
      ['m1', [seen('1', 'a2', 0)]],
      ['h1', [seen('1', 'u3', 0), seen('2', 'u2', 0)]],
      [
        'm1',
        [
          at('u3', 1),
          at('u1', 1),
          { kind: 'join', person: '2', into: '1', time: '2023-01-01T00:00:00.000Z' },
        ],
      ],
    ];
    const world = createPersonsWorld({ overwrite: false, sharedDevices: policy });
    for (const [name, facts] of steps) {
      await world.add(name, facts);
      expect(await world.send(name, { hold: name === 'h1' })).toBe('done');
    }
    const whole = await listMerges(world.said, policy);
    expect(whole).toEqual([policy === 'first' ? 'a2 → u1' : 'a2 → u3']);
    // Whose it is by pairs alone is not known any more, as the ledger holds no facts.
    expect(world.live.merges()).toEqual([]);
    expect([...world.reported]).toContain('shared_device a2');
  },
);

/** As an alias call is mapped. */
const renamed: readonly Stated[] = [
  { kind: 'pair', anonId: 'u1', userId: 'u2', time: '2023-01-01T02:00:00.000Z' },
  { kind: 'rename', from: 'u1', to: 'u2', time: '2023-01-01T02:00:00.000Z' },
];

it('a person whose two users are one by a later export has one user where both exports are released together', async () => {
  const world = createPersonsWorld({ overwrite: false });
  const whole: Stated[][] = [
    [seen('1', 'u1', 0), seen('1', 'u2', 0), seen('1', 'a1', 0)],
    [seen('1', 'u1', 1), ...renamed],
  ];
  for (const [index, facts] of whole.entries()) {
    await world.add(`h${index + 1}`, facts);
    expect(await world.send(`h${index + 1}`, { hold: true })).toBe('done');
  }
  expect(await world.send('r1', { releases: ['h1', 'h2'] })).toBe('done');
  expect(await listMerges(whole.flat(), 'none')).toEqual(world.live.merges());
  expect(world.live.merges().toSorted()).toEqual(['a1 → u2', 'u1 → u2']);
});

it('such a person has several users while another migration has said so, too', async () => {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('h1', [seen('1', 'u1', 0), seen('1', 'u2', 0), seen('1', 'a1', 0)]);
  expect(await world.send('h1', { hold: true })).toBe('done');
  await world.add('m1', [seen('1', 'u1', 1), seen('1', 'a2', 1), ...renamed]);
  expect(await world.send('m1')).toBe('done');
  expect(world.live.merges()).toEqual(['u1 → u2']);
  expect([...world.reported]).toContain('several_users 1');
});

it.each(['other', 'first'])(
  'such a person keeps the user of an export that is gone from staging without rm: %s',
  async (next) => {
    const world = createPersonsWorld({ overwrite: false });
    await world.add('first', [seen('1', 'u1', 0)]);
    expect(await world.send('first')).toBe('done');
    for (const key of [...world.objects.keys()])
      if (key.startsWith('first/') || key === layout('first').record) world.objects.delete(key);
    await world.add(next, [seen('1', 'u2', 1), seen('1', 'a1', 1)]);
    expect(await world.send(next)).toBe('done');
    expect(world.live.merges()).toEqual([]);
  },
);

it('a new name that only a held export says makes no merge of another one, as it may be refused yet', async () => {
  const pair = (anonId: string, userId: string): Stated => ({
    kind: 'pair',
    anonId,
    userId,
    time: '2023-01-01T01:00:00.000Z',
  });
  const play = async (...second: readonly Stated[]) => {
    const world = createPersonsWorld({ overwrite: false });
    await world.add('h1', [pair('a1', 'u1'), ...renamed]);
    expect(await world.send('h1', { hold: true })).toBe('done');
    await world.add('m1', [pair('a1', 'u2'), ...second]);
    expect(await world.send('m1')).toBe('done');
    expect(world.live.merges()).toEqual([]);
    expect([...world.reported]).toContain('shared_device a1');
    expect(await world.send('r1', { releases: ['h1'] })).toBe('done');
    expect(world.live.merges().toSorted()).toEqual((await listMerges(world.said, 'none')).toSorted());
    return world.live.merges().toSorted();
  };
  const other: Stated = { kind: 'rename', from: 'u1', to: 'u3', time: '2023-01-01T03:00:00.000Z' };
  expect(await play(pair('u1', 'u3'), other)).toEqual([]);
  expect(await play()).toEqual(['a1 → u2', 'u1 → u2']);
});

const alias = (from: string, to: string): readonly Stated[] => {
  const time = '2023-01-01T02:00:00.000Z';
  return [
    { kind: 'pair', anonId: from, userId: to, time },
    { kind: 'rename', from, to, time },
  ];
};
const pair = (anonId: string, userId: string): Stated => ({
  kind: 'pair',
  anonId,
  userId,
  time: '2023-01-01T01:00:00.000Z',
});

it('nor where it is the vendor who takes the device for the user of that name', async () => {
  const playNamed = async (...second: readonly Stated[]) => {
    const world = await play(
      [
        { name: 'h1', facts: [seen('1', 'u1', 0), seen('1', 'a1', 0), ...alias('u1', 'u2')] },
        { name: 'm1', facts: [pair('a1', 'u2'), ...second] },
      ],
      'none',
    );
    await expectPersonsToHold(world, 'none');
    return world.live.merges().toSorted();
  };
  expect(await playNamed(...alias('u1', 'u3'))).toEqual([]);
  expect(await playNamed()).toEqual(['a1 → u2', 'u1 → u2']);
});

it('a name that a held export says is not made sure by another name of the same user', async () => {
  const world = await play(
    [
      { name: 'h1', facts: [pair('a1', 'u1'), ...alias('u1', 'u2')] },
      { name: 'm1', facts: [pair('a1', 'u4'), ...alias('u4', 'u2'), ...alias('u1', 'u3')] },
    ],
    'none',
  );
  await expectPersonsToHold(world, 'none');
  expect(world.live.merges()).toEqual(['u4 → u2']);
});

it.each([
  ['before', ['m1', 'h1'], ['u2 → u3']],
  // By then u2 is known as a user, and the call alone does not say so.
  ['after', ['h1', 'm1'], []],
] as const)(
  'two users of a person that are one by a call %s it keep its device from another user',
  async (_, order, merges) => {
    const facts = {
      m1: alias('u2', 'u3'),
      h1: [seen('1', 'u2', 0), seen('1', 'u3', 0), seen('1', 'a1', 0)],
    };
    const steps = order.map((name) => ({ name, facts: facts[name] }));
    const world = await play([...steps, { name: 'm2', facts: [pair('a1', 'u1')] }], 'none');
    await expectPersonsToHold(world, 'none');
    expect(world.live.merges()).toEqual(merges);
  },
);

it('a user gets no name that has one itself by a held export, as the two may make a circle', async () => {
  const world = await play(
    [
      { name: 'h2', facts: alias('u1', 'u3') },
      { name: 'm1', facts: [...alias('u3', 'u1'), pair('a1', 'u3')] },
    ],
    'none',
  );
  await expectPersonsToHold(world, 'none');
  expect(world.live.merges()).toEqual(['a1 → u3']);
});

it('under the policy last, a device that was seen with both names of a user is of nobody where another migration says the name', async () => {
  const at = (anonId: string, userId: string, hour: number): Stated => ({
    kind: 'pair',
    anonId,
    userId,
    time: `2023-01-01T0${hour}:00:00.000Z`,
  });
  const steps: [string, Stated[]][] = [
    ['m1', [...alias('u1', 'u2')]],
    ['m2', [at('a1', 'u1', 3), at('a1', 'u3', 4), at('a1', 'u2', 5), at('a2', 'u3', 4), at('a2', 'u2', 5)]],
  ];
  const whole = await listMerges(
    steps.flatMap(([, facts]) => facts),
    'last',
  );
  expect(whole.toSorted()).toEqual(['a1 → u3', 'a2 → u2', 'u1 → u2']);
  const world = await play(
    steps.map(([name, facts]) => ({ name, facts })),
    'last',
  );
  expect(world.live.merges().toSorted()).toEqual(['a2 → u2', 'u1 → u2']);
  expect([...world.reported]).toContain('shared_device a1');
});

it.each(['none', 'first', 'last'] as const)(
  'a new name that was sent and is contradicted since makes no merge of the devices of its user, shared devices: %s',
  async (policy) => {
    const steps = [
      { name: 'm1', facts: alias('u3', 'u2') },
      { name: 'm2', facts: alias('u3', 'u1') },
      { name: 'm1', facts: [pair('a3', 'u3')] },
    ];
    const world = await play(steps, policy);
    await expectPersonsToHold(world, policy);
    expect(world.live.merges()).toEqual(['u3 → u2']);
  },
);
