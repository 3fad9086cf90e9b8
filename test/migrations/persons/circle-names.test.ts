import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPersonsWorld, type PersonsWorld, type Stated } from './persons-world.ts';
import { expectPersonsToHold, inTime, RUNS } from './split-histories.ts';

/*
 * Users who are given one another's ids in a circle of two or three, by exports that each say some of it: some are held,
 * and the destination may refuse merges, which is accepted. Together they name nobody, and what is sent holds over all
 * that was said by then (I11).
 */

const time = '2023-01-01T00:00:00.000Z';
const alias = (from: string, to: string): readonly Stated[] => [
  { kind: 'pair', anonId: from, userId: to, time },
  { kind: 'rename', from, to, time },
];
const anyPair = fc
  .tuple(fc.constantFrom('a1', 'u1', 'u2', 'u3'), fc.constantFrom('u1', 'u2', 'u3'))
  .map(([anonId, userId]): readonly Stated[] => [{ kind: 'pair', anonId, userId, time }])
  // An id that is paired with itself is a user's.
  .filter(([fact]) => fact?.kind === 'pair' && (fact.anonId === 'a1' || fact.anonId === fact.userId));

const CIRCLES = [
  [alias('u1', 'u2'), alias('u2', 'u1')],
  [alias('u1', 'u2'), alias('u2', 'u3'), alias('u3', 'u1')],
];

interface Step {
  readonly name: string;
  readonly facts: readonly (readonly Stated[])[];
  readonly releases: boolean;
  /** Of its merges, by bit: those that are refused. */
  readonly refused: number;
}

const anyHistory: fc.Arbitrary<readonly Step[]> = fc
  .record({
    circle: fc.constantFrom(...CIRCLES),
    others: fc.array(anyPair, { maxLength: 4 }),
  })
  .chain(({ circle, others }) =>
    fc.shuffledSubarray([...circle, ...others], { minLength: circle.length + others.length }).chain((facts) =>
      fc.tuple(
        ...facts.map((fact) =>
          fc.record({
            name: fc.constantFrom('m1', 'm2', 'h1', 'h2'),
            facts: fc.constant([fact]),
            releases: fc.nat({ max: 5 }).map((of) => of === 0),
            refused: fc.oneof(fc.constant(0), fc.nat({ max: 7 })),
          }),
        ),
      ),
    ),
  );

async function play(steps: readonly (Omit<Step, 'facts'> & { readonly facts: readonly Stated[] })[]) {
  const world = createPersonsWorld({ overwrite: false });
  const held = new Set<string>();
  let releases = 0;
  const send = async (refused: number, name: string, options: Parameters<PersonsWorld['send']>[1]) => {
    let merges = 0;
    world.refuses = ({ properties }) =>
      properties['$anon_distinct_id'] !== undefined && ((refused >> merges++) & 1) === 1;
    expect(await world.send(name, { ...options, acceptRefusals: true })).toBe('done');
  };
  const release = async (refused: number) => {
    if (held.size === 0) return;
    await send(refused, `r${++releases}`, { releases: [...held] });
    held.clear();
  };
  for (const { name, facts, releases: isReleased, refused } of steps) {
    const hold = name.startsWith('h');
    await world.add(name, facts);
    await send(refused, name, { hold });
    if (hold) held.add(name);
    if (isReleased) await release(refused);
  }
  await release(0);
  return world;
}

it('users who are named in a circle by several exports are merged with nobody whom all of them keep apart', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (steps) => expectPersonsToHold(await play(inTime(steps)), 'none')),
    { numRuns: 4 * RUNS },
  );
}, 600_000);
