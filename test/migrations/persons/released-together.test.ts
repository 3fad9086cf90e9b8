import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toScope, WHOLE_MARK } from '../../../src/contract/identity-fact.ts';
import type { SharedDevices } from '../../../src/state/ledger/ledger.ts';
import { anySnapshot } from '../../identity/facts.ts';
import { ALL } from '../../support/form.ts';
import { createPersonsWorld, type PersonsWorld, type Stated } from './persons-world.ts';
import { anyRecord, inTime, listMerges, RUNS } from './split-histories.ts';

/* Held exports that are released together make the persons that one export of all of them makes. */

interface Step {
  readonly name: string;
  readonly facts: readonly Stated[];
}

/** Each step is noted in the ledger before the next one. */
async function hold(steps: readonly Step[], sharedDevices: SharedDevices = 'none'): Promise<PersonsWorld> {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  for (const { name, facts } of steps) {
    await world.add(name, facts);
    expect(await world.send(name, { hold: true })).toBe('done');
  }
  return world;
}

it.each(['none', 'first', 'last'] as const)(
  'any of them, shared devices: %s',
  async (policy) => {
    const anyStep = fc.record({
      name: fc.constantFrom('h1', 'h2', 'h3'),
      facts: fc.array(anyRecord, { minLength: 1, maxLength: 4 }),
    });
    const anySteps = fc.array(anyStep, { minLength: 1, maxLength: 5 }).map(inTime);
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const world = await hold(steps, policy);
        const releases = [...new Set(steps.map(({ name }) => name))];
        expect(await world.send('r', { releases })).toBe('done');
        expect([...world.live.merges()].sort()).toEqual([...(await listMerges(world.said, policy))].sort());
      }),
      { numRuns: RUNS },
    );
  },
  600_000,
);

const toTime = (hour: number) => `2023-01-01T0${hour}:00:00.000Z`;
const pair = (anonId: string, userId: string, hour: number): Stated => ({
  kind: 'pair',
  anonId,
  userId,
  time: toTime(hour),
});
const seen = (id: string, hour: number): Stated => ({
  kind: 'seen',
  person: '1',
  id,
  isUser: id.startsWith('u'),
  time: toTime(hour),
});

const TAKEN_BACK: readonly Step[] = [
  { name: 'h1', facts: [seen('a1', 1), seen('u3', 1)] },
  { name: 'h2', facts: [pair('a1', 'u1', 2), seen('u2', 2)] },
];
const NAMED: readonly Step[] = [
  { name: 'h1', facts: [pair('a1', 'u2', 1), pair('a1', 'u1', 1)] },
  { name: 'h2', facts: [pair('u2', 'u1', 2), { kind: 'rename', from: 'u2', to: 'u1', time: toTime(2) }] },
];

it.each([
  ['a user whom the vendor takes back', TAKEN_BACK],
  ['two users who are one by a later name', NAMED],
])('a device of %s is merged as one export merges it', async (_, steps) => {
  const world = await hold(steps);
  expect(await world.send('r', { releases: ['h1', 'h2'] })).toBe('done');
  expect(world.live.merges()).toContain('a1 → u1');
});

it('what one vendor says is all there is takes nothing away of what another one says', async () => {
  const snapshot = (project: string, hour: number, values: object): Stated => ({
    kind: 'person',
    distinctId: 'u1',
    time: `${toTime(hour)}0${toScope(project)}`,
    set: { ...values, [WHOLE_MARK]: true },
  });
  const world = await hold([
    { name: 'h1', facts: [{ kind: 'person', distinctId: 'u1', time: toTime(1), set: { email: 'a@x.io' } }] },
    {
      name: 'h2',
      facts: [snapshot('1', 2, { plan: 'pro', trial: true }), snapshot('1', 3, { plan: 'pro' })],
    },
    { name: 'h3', facts: [snapshot('2', 4, { theme: 'dark' })] },
  ]);
  expect(await world.send('r', { releases: ['h1', 'h2', 'h3'] })).toBe('done');
  expect(world.live.get('u1')?.properties).toEqual({ email: 'a@x.io', plan: 'pro', theme: 'dark' });
});

it('snapshots of several vendors and projects make what one export of all makes', async () => {
  const anyStep = fc.record({
    name: fc.constantFrom('h1', 'h2', 'h3'),
    facts: fc.array(anySnapshot, { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 4 }), async (steps) => {
      const world = await hold(steps);
      const releases = [...new Set(steps.map(({ name }) => name))];
      expect(await world.send('r', { releases })).toBe('done');
      const whole = createPersonsWorld({ overwrite: false });
      await whole.add('all', world.said);
      expect(await whole.send('all')).toBe('done');
      for (const id of ['d1', 'u1']) expect(world.live.get(id)).toEqual(whole.live.get(id));
    }),
    { numRuns: RUNS },
  );
}, 600_000);

it('what was released before stays known when more is released with it', async () => {
  const world = await hold([{ name: 'h1', facts: [pair('a1', 'u1', 1)] }]);
  expect(await world.send('r1', { releases: ['h1'] })).toBe('done');
  // Noted by the release alone, which says then what it knows.
  await world.add('h1', [pair('a1', 'u2', 2)]);
  expect(await world.send('r2', { releases: ['h1'] })).toBe('done');
  expect(world.live.merges()).toEqual(['a1 → u1']);
  expect(world.reported).toContain('contradicted_merge a1');
});

it.each([false, true])('what another export has sent stays known, removed: %s', async (isRemoved) => {
  const world = await hold([{ name: 'h1', facts: [pair('a2', 'u1', 1)] }]);
  await world.add('m1', [pair('a1', 'u1', 1)]);
  expect(await world.send('m1')).toBe('done');
  if (isRemoved) expect(await world.remove('m1')).toBe('done');
  await world.add('h2', [pair('a1', 'u2', 2)]);
  expect(await world.send('h2', { hold: true })).toBe('done');
  expect(await world.send('r', { releases: ['h1', 'h2'] })).toBe('done');
  expect(world.live.merges()).toEqual(['a1 → u1', 'a2 → u1']);
  expect(world.reported).toContain('contradicted_merge a1');
});

it('a release that is killed at any call and continued makes the same', async () => {
  const releases = ['h1', 'h2'];
  for (let call = 1; ; call += ALL ? 1 : 9) {
    const world = await hold(TAKEN_BACK);
    const ended = await world.send('r', { releases, kill: { call, after: call % 2 === 0 } });
    if (ended === 'done') return;
    expect([call, await world.send('r', { releases })]).toEqual([call, 'done']);
    expect([call, ...world.live.merges()]).toEqual([call, 'a1 → u1']);
  }
}, 120_000);

it('two releases of which each has a migration that the other one has are both known', async () => {
  const world = await hold([
    { name: 'h1', facts: [pair('a1', 'u1', 1)] },
    { name: 'h2', facts: [pair('a2', 'u2', 2)] },
    { name: 'h3', facts: [pair('a3', 'u3', 3)] },
  ]);
  expect(await world.send('r1', { releases: ['h1', 'h2'] })).toBe('done');
  expect(await world.send('r2', { releases: ['h2', 'h3'] })).toBe('done');
  expect(await world.loadReleasedBy('h2')).toBe('r1, r2');
  expect([await world.loadReleasedBy('h1'), await world.loadReleasedBy('h3')]).toEqual(['r1', 'r2']);
  expect([...world.live.merges()].sort()).toEqual(['a1 → u1', 'a2 → u2', 'a3 → u3']);
});

it('a release that is killed at its end and continued leaves nothing held', async () => {
  const releases = ['h1', 'h2'];
  const begin = () =>
    hold([
      { name: 'h1', facts: [pair('a1', 'u1', 1)] },
      { name: 'h2', facts: [pair('a2', 'u2', 2)] },
    ]);
  const whole = await begin();
  expect(await whole.send('r', { releases })).toBe('done');
  const { calls } = whole;
  for (let call = calls - 12; call <= calls; call += 1) {
    const world = await begin();
    await world.send('r', { releases, kill: { call, after: true } });
    expect([call, await world.send('r', { releases })]).toEqual([call, 'done']);
    expect([call, await world.isHeld('h1'), await world.isHeld('h2')]).toEqual([call, false, false]);
    expect([...world.live.merges()].sort()).toEqual(['a1 → u1', 'a2 → u2']);
    expect([call, await world.remove('h1')]).toEqual([call, 'done']);
  }
});
