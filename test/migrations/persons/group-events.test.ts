import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { createPersonsWorld } from './persons-world.ts';
import { RUNS } from './split-histories.ts';

/** Groups of migrations whose manifests name another event for their properties. */

const group = (day: number, plan: string): IdentityFact => ({
  kind: 'group',
  groupType: 'company',
  groupKey: 'acme',
  time: new Date(Date.UTC(2023, 0, day)).toISOString(),
  set: { plan },
});

function createWorld() {
  const world = createPersonsWorld({ overwrite: false });
  const send = async (name: string, fact: IdentityFact) => {
    await world.add(name, [fact]);
    expect(await world.send(name)).toBe('done');
  };
  const listPlans = () => world.live.groupValues().map(({ value }) => value);
  return { world, send, listPlans };
}

it('a name that is corrected brings what was sent under another one, and nothing that is older', async () => {
  const { world, send, listPlans } = createWorld();
  await send('first', group(2, 'pro'));
  world.groupIdentifyEvent = '$groupidentify';
  await send('corrected', group(2, 'pro'));
  expect(listPlans()).toEqual(['pro', 'pro']);
  await send('older', group(1, 'free'));
  expect(listPlans()).toEqual(['pro', 'pro']);
});

it('a ledger that is made again knows what was sent under the name of each migration', async () => {
  const { world, send, listPlans } = createWorld();
  const backup = world.backUp();
  world.groupIdentifyEvent = '$groupidentify';
  await send('first', group(2, 'pro'));
  world.restore(backup);
  await send('older', group(1, 'free'));
  expect(listPlans()).toEqual(['pro']);
  world.groupIdentifyEvent = '$group_identify';
  await send('other', group(2, 'pro'));
  expect(listPlans()).toEqual(['pro', 'pro']);
});

it('what was refused under another name, and accepted so, is not known', async () => {
  const { world, send, listPlans } = createWorld();
  world.groupIdentifyEvent = '$groupidentify';
  world.refuses = () => true;
  await world.add('refused', [group(2, 'pro')]);
  expect(await world.send('refused')).toMatchObject({ failed: expect.stringContaining('refused') });
  expect(await world.send('refused', { acceptRefusals: true })).toBe('done');
  world.refuses = () => false;
  await send('later', group(1, 'free'));
  expect(listPlans()).toEqual(['free']);
});

it('a value that is older than one sent under another name is not sent, as a destination may act on both', async () => {
  const { world, send, listPlans } = createWorld();
  await send('newer', group(2, 'pro'));
  world.groupIdentifyEvent = '$groupidentify';
  await send('older', group(1, 'free'));
  expect(listPlans()).toEqual(['pro']);
  expect([...world.reported]).toEqual(['group_may_be_newer acme']);
  // Once the name of the newer one is corrected, too, nothing is missing.
  await send('corrected', group(2, 'pro'));
  expect(listPlans()).toEqual(['pro', 'pro']);
});

it('under whichever names, an older value never follows a newer one, and one that is not sent is known or reported', async () => {
  const anyMigration = fc.record({
    event: fc.constantFrom('$group_identify', '$groupidentify'),
    day: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyMigration, { minLength: 2, maxLength: 6 }), async (migrations) => {
      const { world, send, listPlans } = createWorld();
      const newest = new Map<string, number>();
      let isReported = false;
      for (const [number, { event, day }] of migrations.entries()) {
        const before = listPlans().length;
        world.groupIdentifyEvent = event;
        await send(`m${number}`, group(day, `${day}`));
        const isKnown = day <= (newest.get(event) ?? 0);
        if (listPlans().length > before) newest.set(event, day);
        else if (!isKnown) isReported = true;
      }
      expect(listPlans()).toEqual(listPlans().toSorted((a, b) => Number(a) - Number(b)));
      expect(world.reported.has('group_may_be_newer acme')).toBe(isReported);
    }),
    { numRuns: RUNS },
  );
});
