import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';
import { createPersonsWorld } from './persons-world.ts';

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
  ['first', 1],
  ['last', 3],
] as const)(
  'joins no two users where a killed migration has begun to send: %s',
  async (sharedDevices, day) => {
    const at = (of: number) => `2023-01-0${of}T00:00:00.000Z`;
    const play = async (call: number) => {
      const world = createPersonsWorld({ overwrite: true, sharedDevices });
      await world.add('m1', [{ kind: 'pair', anonId: 'tablet', userId: 'ada', time: at(day) }]);
      const ended = await world.send('m1', { kill: { call, after: call % 2 === 0 } });
      await world.add('m2', [
        { kind: 'pair', anonId: 'tablet', userId: 'bob', time: at(2) },
        { kind: 'person', distinctId: 'tablet', time: at(4), set: { plan: 'gold' } },
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
