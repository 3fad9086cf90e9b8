import { expect, it } from 'vitest';
import type { SharedDevices } from '../../../src/state/ledger/ledger.ts';
import { createPersonsWorld, type Kill, type Stated } from './persons-world.ts';
import { expectPersonsToHold } from './split-histories.ts';

const at = (hour: number) => new Date(Date.UTC(2023, 0, 1, hour)).toISOString();
/** An alias call: from now on the user has another id. */
const rename = (from: string, to: string, hour: number): Stated[] => [
  { kind: 'pair', anonId: from, userId: to, time: at(hour) },
  { kind: 'rename', from, to, time: at(hour) },
];

/** A user gets a new id, the process ends at a call, and a top-up says that the user has another new id. */
async function renameTwice(sharedDevices: SharedDevices, kill?: Kill) {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  await world.add('m1', [...rename('u1', 'u2', 1), ...rename('u2', 'u3', 2)]);
  await world.send('m1', { kill });
  const { calls } = world;
  await world.add('m1', rename('u2', 'u1', 3));
  expect(await world.send('m1')).toBe('done');
  return { world, calls };
}

it.each(['none', 'first', 'last'] as const)(
  'a new id that was perhaps not sent yet is not, once the user has two: shared devices %s',
  async (policy) => {
    const { calls } = await renameTwice(policy);
    let sent = 0;
    for (let call = 1; call <= calls; call += 3) {
      const { world } = await renameTwice(policy, { call, after: call % 2 === 0 });
      await expectPersonsToHold(world, policy);
      if (!world.live.merges().includes('u2 → u3')) continue;
      sent += 1;
      expect([...world.reported], `killed at ${call}`).toContain('contradicted_merge u2');
    }
    expect(sent).toBeGreaterThan(0);
  },
);

/** A process that gives a user a new id sleeps before a call, while another one is told of the opposite. */
async function nameInCircle(sharedDevices: SharedDevices, call: number) {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  await world.add('m1', [
    { kind: 'pair', anonId: 'a1', userId: 'u1', time: at(1) },
    ...rename('u1', 'u2', 2),
  ]);
  const meanwhile = async () => {
    await world.add('m2', rename('u2', 'u1', 3));
    expect(await world.send('m2')).toBe('done');
  };
  await world.send('m1', { freeze: { call, meanwhile } });
  const { calls } = world;
  await meanwhile();
  expect(await world.send('m1')).toBe('done');
  return { world, calls };
}

it.each(['none', 'first', 'last'] as const)(
  'a new id that was perhaps not sent yet is not, once the users are named in a circle: shared devices %s',
  async (policy) => {
    const { calls } = await nameInCircle(policy, Number.POSITIVE_INFINITY);
    let left = 0;
    // Between what says that merges may be sent and the first of them there are some 15 calls.
    for (let call = 1; call <= calls; call += 8) {
      const { world } = await nameInCircle(policy, call);
      await expectPersonsToHold(world, policy);
      if (!world.live.merges().includes('u1 → u2') && world.reported.has('contradicted_merge u1')) left += 1;
    }
    expect(left).toBeGreaterThan(0);
  },
);
