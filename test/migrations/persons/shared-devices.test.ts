import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';

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
