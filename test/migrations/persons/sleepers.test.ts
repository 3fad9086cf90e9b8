import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { ALL } from '../../support/form.ts';
import { createPersonsWorld, type PersonsWorld } from './persons-world.ts';

const time = '2023-01-01T00:00:00.000Z';
const pair = (anonId: string, userId: string): IdentityFact => ({ kind: 'pair', anonId, userId, time });

type Successor = (world: PersonsWorld) => Promise<void>;

/** Finds the receipt of the merges gone, so it sends them once more. */
const sendLost: Successor = async (world) => {
  for (const key of world.objects.keys()) if (key.includes('/merged/')) world.objects.delete(key);
  world.refuses = () => false;
  await world.send('one');
};

/** Accepts nothing, so its successors send the refused ones once more in the same turn; they do not come far. */
const sendAgain: Successor = async (world) => {
  await world.send('one');
  world.refuses = () => false;
  for (let call = 150; world.live.merges().length === 0 && call < 300; call += 10)
    await world.send('one', { kill: { call, after: true } });
};

/** A producer that accepts the refusal of a merge, and sleeps before this call while others come. */
async function takeBackLate(call: number, successor: Successor) {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('one', [pair('device', 'user')]);
  world.refuses = ({ properties }) => '$anon_distinct_id' in properties;
  expect(await world.send('one')).toMatchObject({ failed: expect.stringContaining('refused') });
  const meanwhile = () => successor(world);
  await world.send('one', { acceptRefusals: true, freeze: { call, meanwhile } });
  const { calls } = world;
  world.refuses = () => false;
  await world.add('two', [pair('device', 'other')]);
  expect(await world.send('two')).toBe('done');
  return { world, calls };
}

it.each([
  ['sends what was lost', sendLost],
  ['sends again and is killed', sendAgain],
])(
  'a producer that accepted refusals takes back nothing of a successor that %s',
  async (_, successor) => {
    const undisturbed = await takeBackLate(0, successor);
    // Before that it does not take anything back.
    const first = ALL ? 1 : undisturbed.calls - 40;
    for (let call = first; call <= undisturbed.calls; call += 1) {
      const { world } = await takeBackLate(call, successor);
      const merged = world.live.merges().includes('device → user');
      const reason = merged ? 'contradicted_merge' : 'shared_device';
      expect([call, ...world.reported]).toContain(`${reason} device`);
    }
  },
  60_000,
);

/** A producer that sleeps before this call for longer than its lock lasts, while another migration comes. */
async function mergeLate(call: number) {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('one', [pair('device', 'user')]);
  const meanwhile = async () => {
    await world.add('two', [pair('device', 'other')]);
    await world.send('two');
  };
  await world.send('one', { freeze: { call, meanwhile } });
  return world;
}

it('a producer that slept sends no merge that was decided before another migration came', async () => {
  const { calls } = await mergeLate(0);
  for (let call = 1; call <= calls; call += ALL ? 1 : 5) {
    const world = await mergeLate(call);
    // What it sent before it slept had one user.
    for (const { merge, said } of world.merged) expect({ call, merge, said }).toMatchObject({ said: 1 });
  }
}, 120_000);

/** A producer that sleeps before this call until another one has had the first turn of the ledger. */
async function lookLate(call: number) {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('one', [pair('device', 'user')]);
  const meanwhile = async () => {
    await world.add('two', [pair('phone', 'user')]);
    expect(await world.send('two')).toBe('done');
  };
  await world.send('one', { freeze: { call, meanwhile } });
  return world;
}

it('a producer that slept does not take for lost what others have written meanwhile', async () => {
  const { calls } = await lookLate(0);
  // From then on it has a turn.
  for (let call = 1; call <= (ALL ? calls : 40); call += 1) {
    const world = await lookLate(call);
    const madeAgain = [...world.objects].filter(
      ([key, body]) => key.includes('/versions/') && /"emptied"|"rebuiltAt"/.test(body.toString()),
    );
    expect({ call, madeAgain }).toEqual({ call, madeAgain: [] });
  }
}, 120_000);

/**
 * A producer that sleeps before this call, so that its turn never ends, while another one says things of both ids. Later
 * the merge that its turn was about is forbidden.
 */
async function neverMerge(call: number) {
  const world = createPersonsWorld({ overwrite: true });
  const setPlan = (distinctId: string, hour: number): IdentityFact => ({
    kind: 'person',
    distinctId,
    time: `2023-01-01T0${hour}:00:00.000Z`,
    set: { plan: `at ${hour}` },
  });
  await world.add('one', [pair('device', 'user'), setPlan('device', 1)]);
  const meanwhile = async () => {
    await world.add('two', [setPlan('user', 2)]);
    expect(await world.send('two')).toBe('done');
    await world.add('two', [setPlan('user', 3), setPlan('device', 4)]);
    expect(await world.send('two')).toBe('done');
  };
  await world.send('one', { freeze: { call, meanwhile } });
  const { calls } = world;
  await world.add('two', [pair('device', 'other')]);
  expect(await world.send('two')).toBe('done');
  expect(await world.send('one')).toBe('done');
  return { world, calls };
}

it('a merge of a turn that had sent nothing holds back no value of its user', async () => {
  const { calls } = await neverMerge(0);
  let withheld = 0;
  for (let call = 1; call <= calls; call += ALL ? 1 : 7) {
    const { world } = await neverMerge(call);
    if (world.live.merges().length > 0 || world.reported.has('contradicted_merge device')) continue;
    withheld += 1;
    expect([call, world.live.get('user')?.properties]).toEqual([call, { plan: 'at 3' }]);
  }
  // In most of these the turn had begun.
  expect(withheld).toBeGreaterThan(5);
}, 120_000);
