import { expect, it } from 'vitest';
import { type IdentityFact, toScope, WHOLE_MARK } from '../../../src/contract/identity-fact.ts';
import { createPersonsWorld } from './persons-world.ts';

const at = (day: number) => new Date(Date.UTC(2023, 0, day)).toISOString();
const pair = (anonId: string, userId: string): IdentityFact => ({
  kind: 'pair',
  anonId,
  userId,
  time: at(1),
});
const set = (distinctId: string, day: number, values: Record<string, unknown>): IdentityFact => ({
  kind: 'person',
  distinctId,
  time: at(day),
  set: values,
});

/** A migration that said something of both, and one that brings the pair. */
async function mergeLater(said: readonly IdentityFact[], { overwrite = true, removed = false } = {}) {
  const world = createPersonsWorld({ overwrite });
  await world.add('first', said);
  expect(await world.send('first')).toBe('done');
  if (removed) expect(await world.remove('first')).toBe('done');
  await world.add('second', [pair('device', 'user')]);
  expect(await world.send('second')).toBe('done');
  return world;
}

it('the newer of two values arrives, whichever of the merged ids had it', async () => {
  const world = await mergeLater([
    set('device', 5, { plan: 'free', seats: 5, device_only: true }),
    set('user', 3, { plan: 'paid' }),
    set('user', 6, { seats: 6 }),
  ]);
  const properties = { plan: 'free', seats: 6, device_only: true };
  expect(world.live.get('user')).toEqual({ ids: ['device', 'user'], properties });
  expect([...world.reported]).toEqual([]);
});

it('of several ids that are merged at once the newest value arrives', async () => {
  const world = await mergeLater([
    set('device', 5, { plan: 'free' }),
    set('user', 3, { plan: 'paid' }),
    set('phone', 8, { plan: 'team' }),
  ]);
  await world.add('third', [pair('phone', 'user')]);
  expect(await world.send('third')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'team' });
});

it('a snapshot of one vendor takes nothing away that another one said of a merged id', async () => {
  const world = createPersonsWorld({ overwrite: true });
  await world.add('first', [set('device', 5, { plan: 'free' }), set('user', 3, { plan: 'paid' })]);
  expect(await world.send('first')).toBe('done');
  const whole = { kind: 'person', distinctId: 'user', set: { theme: 'dark', [WHOLE_MARK]: true } } as const;
  await world.add('second', [pair('device', 'user'), { ...whole, time: `${at(8)}0${toScope('1')}` }]);
  expect(await world.send('second')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'free', theme: 'dark' });
});

it('what comes later replaces each value that is older than it, and no other', async () => {
  const world = await mergeLater([
    set('device', 5, { plan: 'free' }),
    set('user', 2, { plan: 'old', seats: 2 }),
  ]);
  await world.add('third', [set('user', 4, { plan: 'older', seats: 4 })]);
  expect(await world.send('third')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'free', seats: 4 });
});

it('a value that was removed is reported, and nothing older replaces what may be it', async () => {
  const world = await mergeLater([set('device', 5, { plan: 'free' })], { removed: true });
  expect([...world.reported]).toEqual(['value_was_removed device']);
  await world.add('third', [set('user', 4, { plan: 'older' })]);
  expect(await world.send('third')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'free' });
});

it('the newest value arrives, wherever the migration that says it was killed before others merged its device', async () => {
  for (let call = 1; ; call += 1) {
    const world = createPersonsWorld({ overwrite: true });
    const once = { kind: 'person', distinctId: 'device', time: at(6), setOnce: { source: 'ad' } } as const;
    await world.add('first', [set('device', 5, { plan: 'free' }), once]);
    const ended = await world.send('first', { kill: { call, after: false } });
    await world.add('second', [pair('device', 'user'), set('user', 3, { plan: 'paid', seats: 3 })]);
    expect(await world.send('second')).toBe('done');
    await world.add('third', [set('user', 4, { seats: 4 })]);
    expect(await world.send('third')).toBe('done');
    expect(await world.send('first')).toBe('done');
    expect({ call, ...world.live.get('user')?.properties }).toMatchObject({ call, plan: 'free', seats: 4 });
    expect([...world.reported], `killed at call ${call}`).toEqual([]);
    if (ended === 'done') break;
  }
});

it('one that only filled a gap and was removed is reported where it was all that was sent under its id', async () => {
  const world = createPersonsWorld({ overwrite: false });
  await world.add('first', [set('device', 5, { plan: 'free' })]);
  expect(await world.send('first')).toBe('done');
  expect(await world.remove('first')).toBe('done');
  world.overwrite = true;
  await world.add('second', [pair('device', 'user'), set('user', 4, { plan: 'older' })]);
  expect(await world.send('second')).toBe('done');
  expect([...world.reported]).toEqual(['value_was_removed device']);
  expect(world.live.get('user')?.properties).toEqual({ plan: 'free' });
});

it('one that only filled gaps does so again', async () => {
  const said = [set('device', 5, { plan: 'free' }), set('user', 3, { plan: 'paid' })];
  const world = await mergeLater(said, { overwrite: false });
  expect(world.live.get('user')?.properties).toEqual({ plan: 'paid' });
  expect([...world.reported]).toEqual([]);
});

it('arrives too where it came between the decision about the merge and its end', async () => {
  const world = createPersonsWorld({ overwrite: true });
  await world.add('first', [set('device', 5, { plan: 'free' }), set('user', 3, { plan: 'paid', seats: 3 })]);
  expect(await world.send('first')).toBe('done');
  await world.add('second', [pair('device', 'user')]);
  world.refuses = ({ properties }) => '$anon_distinct_id' in properties;
  // The turn stays open: nobody knows whether the merge was made.
  expect(await world.send('second')).toMatchObject({ failed: expect.stringContaining('refused') });
  await world.add('between', [
    set('device', 7, { plan: 'newer' }),
    set('user', 6, { plan: 'old', seats: 6 }),
  ]);
  expect(await world.send('between')).toBe('done');
  // The device's value is newer, and perhaps the user's by now.
  expect(world.live.get('user')?.properties).toEqual({ plan: 'free', seats: 6 });
  world.refuses = () => false;
  expect(await world.send('second')).toBe('done');
  expect(world.live.get('user')?.properties).toEqual({ plan: 'newer', seats: 6 });
});

it('sends no value that is another in staging than the one that was kept', async () => {
  const world = createPersonsWorld({ overwrite: true });
  await world.add('first', [set('device', 5, { plan: 'free' }), set('user', 3, { plan: 'paid' })]);
  expect(await world.send('first')).toBe('done');
  for (const [key, body] of world.objects) {
    const text = body.toString('latin1');
    if (key.startsWith('first/') && text.includes('"free"'))
      world.objects.set(key, Buffer.from(text.replace('"free"', '"frei"'), 'latin1'));
  }
  await world.add('second', [pair('device', 'user')]);
  expect(await world.send('second')).toMatchObject({ failed: expect.stringContaining('first/findings/') });
  expect(world.live.get('user')?.properties).not.toMatchObject({ plan: 'frei' });
});

it.each([false, true])(
  'a newer value that only filled a gap is not replaced, its facts removed: %s',
  async (removed) => {
    const world = createPersonsWorld({ overwrite: false });
    await world.add('first', [set('device', 5, { plan: 'newer' })]);
    expect(await world.send('first')).toBe('done');
    if (removed) expect(await world.remove('first')).toBe('done');
    world.overwrite = true;
    await world.add('second', [pair('device', 'user'), set('user', 3, { plan: 'older' })]);
    expect(await world.send('second')).toBe('done');
    expect(world.live.get('user')?.properties).toEqual({ plan: 'newer' });
    expect([...world.reported]).toEqual(removed ? ['value_was_removed device'] : []);
  },
);
