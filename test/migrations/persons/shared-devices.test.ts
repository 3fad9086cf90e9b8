import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';
import { createPersonsWorld, type Stated } from './persons-world.ts';

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const seen = [
  { user: 'bob', device: 'tablet', time: '2021-01-02T00:00:00Z' },
  { user: 'ada', device: 'tablet', time: '2021-01-01T00:00:00Z' },
];
const where = (project: string, sharedDevices?: string) => ({
  destination: bench.project(project),
  ...(sharedDevices === undefined ? {} : { people: { sharedDevices } }),
});

it.each([
  [undefined, [], { pairs: 0, setAside: { shared_device: 1 } }],
  ['first', ['tablet → ada'], { pairs: 1, chosen: 1, sharedDevices: 'first' }],
  ['last', ['tablet → bob'], { pairs: 1, chosen: 1, sharedDevices: 'last' }],
])('a device of several users with people.sharedDevices %s', async (policy, merges, people) => {
  const report = await bench.run(`devices-${policy}`, seen, where(`devices-${policy}`, policy));
  expect(report.people).toMatchObject(people);
  expect(bench.takeSent().merges).toEqual(merges);
});

it('is decided alike by all migrations to a project: another answer is refused before anything is sent', async () => {
  await bench.run('alike-1', seen, where('alike', 'first'));
  bench.takeSent();
  const next = [{ user: 'cy', device: 'phone', time: '2021-01-03T00:00:00Z' }];
  await expect(bench.run('alike-2', next, where('alike', 'last'))).rejects.toThrow(
    /Set people.sharedDevices to first/,
  );
  await expect(bench.run('alike-2', next, where('alike'))).rejects.toThrow(/decided with first/);
  expect(bench.takeSent().merges).toEqual([]);
  await bench.run('alike-2', next, where('alike', 'first'));
  expect(bench.takeSent().merges).toEqual(['phone → cy']);
});

it.each([
  ['its name', 'its key alone'],
  ['its key alone', 'its name'],
])('is one answer for a project that was named by %s, and then by %s', async (first, second) => {
  const name = `tied-${first.replaceAll(' ', '-')}`;
  const by = (how: string, sharedDevices: string) => {
    const { project, ...alone } = bench.project(name);
    return {
      destination: how === 'its name' ? { ...alone, project } : alone,
      people: { sharedDevices },
    };
  };
  const device = `tablet-${name}`;
  await bench.run(`${name}-1`, [{ user: 'ada', device }], by(first, 'first'));
  bench.takeSent();
  const next = [{ user: 'cy', device: `phone-${name}` }];
  await expect(bench.run(`${name}-2`, next, by(second, 'none'))).rejects.toThrow(
    'Set people.sharedDevices to first',
  );
  expect(bench.takeSent().merges).toEqual([]);
  await bench.run(`${name}-2`, next, by(second, 'first'));
  expect(bench.takeSent().merges).toEqual([`phone-${name} → cy`]);
});

it.each([
  ['first', 1, { mergedBefore: 1, setAside: { merged_otherwise: 1 } }],
  ['first', 3, { mergedBefore: 1, setAside: {} }],
  ['last', 1, { mergedBefore: 1, setAside: {} }],
  ['last', 3, { mergedBefore: 1, setAside: { merged_otherwise: 1 } }],
] as const)(
  'says that a device was merged into another user than the %s one, who is seen with it on day %i by a later export',
  async (policy, day, people) => {
    const project = `late-${policy}-${day}`;
    const device = `tablet-${project}`;
    await bench.run(
      `${project}-a`,
      [{ user: 'bob', device, time: '2021-01-02T00:00:00Z' }],
      where(project, policy),
    );
    expect(bench.takeSent().merges).toEqual([`${device} → bob`]);
    const later = [{ user: 'ada', device, time: `2021-01-0${day}T00:00:00Z` }];
    const report = await bench.run(`${project}-b`, later, where(project, policy));
    expect(bench.takeSent().merges).toEqual([]);
    expect(report.people).toMatchObject({ pairs: 0, ...people });
    expect(report.people.setAside).toEqual(people.setAside);
  },
);

it('says so, too, where the later export names both users, or where only a time that the vendor took back says whose it is', async () => {
  const at = (hour: number) => `2023-01-01T0${hour}:00:00.000Z`;
  const pair = (userId: string, hour: number): Stated => ({
    kind: 'pair',
    anonId: 'a1',
    userId,
    time: at(hour),
  });
  const seen = (id: string): Stated => ({
    kind: 'seen',
    person: '1',
    id,
    isUser: id !== 'a1',
    time: at(0),
  });
  const play = async (...steps: readonly (readonly Stated[])[]) => {
    const world = createPersonsWorld({
      overwrite: false,
      sharedDevices: 'first',
    });
    for (const [number, facts] of steps.entries()) {
      await world.add(`m${number}`, facts);
      expect(await world.send(`m${number}`)).toBe('done');
    }
    return { merges: world.live.merges(), reported: [...world.reported] };
  };
  const merges = ['a1 → u1'];
  expect(await play([pair('u1', 5)], [pair('u1', 5), pair('u2', 3)])).toEqual({
    merges,
    reported: ['merged_otherwise a1'],
  });
  expect(await play([pair('u1', 5)], [pair('u1', 5), pair('u2', 7)])).toEqual({
    merges,
    reported: [],
  });
  const byVerdict = [seen('a1'), seen('u1'), pair('u1', 5)];
  expect(await play(byVerdict, [pair('u2', 7)])).toEqual({
    merges,
    reported: ['merged_otherwise a1'],
  });
});

it('says so where the last user of a device turns out to have come to it before another one', async () => {
  const world = createPersonsWorld({ overwrite: false, sharedDevices: 'last' });
  const pair = (userId: string, hour: number): Stated => ({
    kind: 'pair',
    anonId: 'a1',
    userId,
    time: `2023-01-01T0${hour}:00:00.000Z`,
  });
  for (const [name, facts] of [
    ['m1', [pair('u1', 1), pair('u2', 2)]],
    ['m2', [pair('u2', 3)]],
    ['m3', [pair('u2', 0)]],
  ] as const) {
    expect([...world.reported]).toEqual([]);
    await world.add(name, facts);
    expect(await world.send(name)).toBe('done');
  }
  expect(world.live.merges()).toEqual(['a1 → u2']);
  expect([...world.reported]).toEqual(['merged_otherwise a1']);
});

it.each([
  ['first', 1],
  ['last', 3],
] as const)(
  'joins no two users where a killed migration has begun to send: %s',
  async (sharedDevices, day) => {
    const at = (of: number) => `2023-01-0${of}T00:00:00.000Z`;
    const play = async (call: number) => {
      const world = createPersonsWorld({ overwrite: true, sharedDevices });
      await world.add('m1', [{ kind: 'pair', anonId: 'tablet', userId: 'ada', time: at(day) }]);
      const ended = await world.send('m1', {
        kill: { call, after: call % 2 === 0 },
      });
      await world.add('m2', [
        { kind: 'pair', anonId: 'tablet', userId: 'bob', time: at(2) },
        {
          kind: 'person',
          distinctId: 'tablet',
          time: at(4),
          set: { plan: 'gold' },
        },
      ]);
      expect(await world.send('m2')).toBe('done');
      expect(await world.send('m1')).toBe('done');
      expect(world.live.merges()).not.toContain('tablet → bob');
      expect(world.live.get('bob')?.properties ?? {}).toEqual({});
      return ended;
    };
    let call = 1;
    while ((await play(call)) === 'killed') call += 3;
    expect(call).toBeGreaterThan(100);
  },
  600_000,
);
