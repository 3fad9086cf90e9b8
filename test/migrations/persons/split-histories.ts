import fc from 'fast-check';
import { expect } from 'vitest';
import type { SharedDevices } from '../../../src/state/ledger/ledger.ts';
import type { LivePersons } from '../../support/live-persons.ts';
import { countCases } from '../../support/test-seed.ts';
import { createPersonsWorld, type PersonsWorld, type Stated } from './persons-world.ts';

export const RUNS = Number(process.env['BACKHAUL_HISTORIES'] ?? countCases(12, 300));

const DEVICES = ['a1', 'a2', 'a3'];
export const USERS = ['u1', 'u2', 'u3'];
export const PERSONS = ['1', '2', '3'];
const anyTime = fc.nat({ max: 9 }).map((hour) => `2023-01-01T0${hour}:00:00.000Z`);

/** What a vendor that has persons of its own may state. */
export const anyStated: fc.Arbitrary<Stated> = fc.oneof(
  fc.record({
    kind: fc.constant('pair' as const),
    anonId: fc.constantFrom(...DEVICES),
    userId: fc.constantFrom(...USERS),
    time: anyTime,
  }),
  fc
    .tuple(fc.constantFrom(...PERSONS), fc.constantFrom(...DEVICES, ...USERS), anyTime)
    .map(([person, id, time]) => ({ kind: 'seen' as const, person, id, isUser: USERS.includes(id), time })),
  fc.record({
    kind: fc.constant('join' as const),
    person: fc.constantFrom(...PERSONS),
    into: fc.constantFrom(...PERSONS),
    time: anyTime,
  }),
);

/** Both facts of an alias call: a device has a user, or a user has another id by now. */
const anyAlias: fc.Arbitrary<readonly Stated[]> = fc
  .tuple(fc.constantFrom(...USERS, ...USERS, ...DEVICES), fc.constantFrom(...USERS), anyTime)
  .filter(([from, to]) => from !== to)
  .map(([from, to, time]) => [
    { kind: 'pair', anonId: from, userId: to, time },
    { kind: 'rename', from, to, time },
  ]);

/** What one record may state where users have other ids by now. */
export const anyRecord: fc.Arbitrary<readonly Stated[]> = fc.oneof(
  { weight: 3, arbitrary: anyStated.map((fact) => [fact]) },
  { weight: 1, arbitrary: anyAlias },
);

/**
 * Facts of records, each record at a time of its own: of two users with one time either may be the first, whatever they
 * are called by then.
 */
export function inTime<T extends { readonly facts: readonly (readonly Stated[])[] }>(
  steps: readonly T[],
): (Omit<T, 'facts'> & { readonly facts: Stated[] })[] {
  let ms = 0;
  const atOnce = (facts: readonly Stated[]) => {
    ms += 1;
    return facts.map((fact) => ({ ...fact, time: new Date(Date.parse(fact.time) + ms).toISOString() }));
  };
  return steps.map((step) => ({ ...step, facts: step.facts.flatMap(atOnce) }));
}

/** Persons of the destination after one migration with all of it. */
async function sendWhole(said: readonly Stated[], sharedDevices: SharedDevices): Promise<LivePersons> {
  const whole = createPersonsWorld({ overwrite: false, sharedDevices });
  if (said.length > 0) {
    await whole.add('whole', said);
    expect(await whole.send('whole')).toBe('done');
  }
  return whole.live;
}

/** What one migration with all of it merges. */
export async function listMerges(
  said: readonly Stated[],
  sharedDevices: SharedDevices,
): Promise<readonly string[]> {
  return (await sendWhole(said, sharedDevices)).merges();
}

/**
 * Each merge must hold over all that was said when it was sent: both ids are one person where one migration sends all of
 * that. Where users have other ids by now, a merge may name another one of the same person.
 */
export async function expectPersonsToHold(
  { merged, said }: Pick<PersonsWorld, 'merged' | 'said'>,
  sharedDevices: SharedDevices,
): Promise<void> {
  for (const { merge, said: count } of merged) {
    const [device = '', user = ''] = merge.split(' → ');
    const known = said.slice(0, count);
    let ids: readonly string[] = [];
    for (let facts: readonly Stated[] | undefined = known; facts && !ids.includes(user); ) {
      const live = await sendWhole(facts, sharedDevices);
      ids = listIds(live, device);
      facts = uniteNames(facts, live);
    }
    expect({ merge, known, ids }).toMatchObject({ ids: expect.arrayContaining([user]) });
  }
}

const listIds = (live: LivePersons, id: string): readonly string[] => live.get(id)?.ids ?? [id];

/**
 * One migration renames nobody who has two new ids. Where these are one person, they say the same: the facts with one of
 * them. Undefined: there is no such user.
 */
function uniteNames(said: readonly Stated[], live: LivePersons): readonly Stated[] | undefined {
  const names = new Map<string, Set<string>>();
  for (const fact of said)
    if (fact.kind === 'rename') names.set(fact.from, (names.get(fact.from) ?? new Set()).add(fact.to));
  for (const [from, [first = '', ...others]] of names) {
    if (others.length === 0) continue;
    if (others.some((other) => listIds(live, other)[0] !== listIds(live, first)[0])) continue;
    return said.map((fact): Stated => {
      if (fact.kind === 'rename' && fact.from === from) return { ...fact, to: first };
      const isOther = fact.kind === 'pair' && fact.anonId === from && others.includes(fact.userId);
      return isOther ? { ...fact, userId: first } : fact;
    });
  }
  return undefined;
}
