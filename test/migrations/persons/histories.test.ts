import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { ALL } from '../../support/form.ts';
import type { LivePerson } from '../../support/live-persons.ts';
import { createPersonsWorld, type Ended, type Kill, type PersonsWorld } from './persons-world.ts';

/*
 * Histories of migrations to one project: split exports, top-ups, holds and releases, removals, a ledger that comes
 * back from a backup, kills at any call. In the end there are the persons that one migration of everything makes, and
 * no merge was sent that the facts known by then forbid (I2, I11).
 */

const SEED = process.env['BACKHAUL_HISTORIES_SEED'];
const RUNS = Number(process.env['BACKHAUL_HISTORIES'] ?? (ALL ? 600 : 60));

const DEVICES = ['a1', 'a2', 'a3'];
const USERS = ['u1', 'u2'];
const IDS = [...DEVICES, ...USERS];

/** Without a time: every fact gets one of its own, because of two values of one time either may win. */
type Said = ((time: string, value: string) => IdentityFact) & { toString(): string };

const named = (text: string, make: (time: string, value: string) => IdentityFact): Said =>
  Object.assign(make, { toString: () => text });

const anySaid: fc.Arbitrary<Said> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...DEVICES, 'u1'), fc.constantFrom(...USERS))
    .map(([anonId, userId]) =>
      named(`${anonId}=${userId}`, (time) => ({ kind: 'pair', anonId, userId, time })),
    ),
  fc.tuple(fc.constantFrom(...IDS), fc.constantFrom('plan', 'seats')).map(([distinctId, key]) =>
    named(`${distinctId}.${key}`, (time, value) => ({
      kind: 'person',
      distinctId,
      time,
      set: { [key]: value },
    })),
  ),
);

interface Fact {
  readonly say: Said;
  readonly hour: number;
}
const anyFacts = fc.array(fc.record({ say: anySaid, hour: fc.nat({ max: 200 }) }), {
  minLength: 1,
  maxLength: 4,
});
const anyKill: fc.Arbitrary<Kill | undefined> = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 330 }), after: fc.boolean() }),
  { nil: undefined, freq: 3 },
);

/** Those that begin with an h hold their persons. */
const NAMES = ['m1', 'm2', 'm3', 'h1', 'h2'] as const;
const anyName = fc.constantFrom(...NAMES);
const isHeld = (name: string) => name.startsWith('h');

/** A process sleeps before a call while another migration, or its own successor, comes. */
interface Sleep {
  readonly call: number;
  readonly name: string;
  readonly facts: readonly Fact[];
}
const anySleep: fc.Arbitrary<Sleep | undefined> = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 330 }), name: anyName, facts: anyFacts }),
  { nil: undefined, freq: 3 },
);

type Step =
  | { kind: 'add'; name: string; facts: readonly Fact[]; kill: Kill | undefined; sleep: Sleep | undefined }
  | { kind: 'resume'; name: string; kill: Kill | undefined }
  | { kind: 'release'; kill: Kill | undefined }
  | { kind: 'remove'; name: string; kill: Kill | undefined }
  | { kind: 'backUp' }
  | { kind: 'restore' };

const anyLiveStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      name: anyName,
      facts: anyFacts,
      kill: anyKill,
      sleep: anySleep,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume' as const), name: anyName, kill: anyKill }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), kill: anyKill }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: anyName, kill: anyKill }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'backUp' as const }) },
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: anyLiveStep },
  { weight: 1, arbitrary: fc.constant({ kind: 'restore' as const }) },
);

/** Merges that all of these facts together allow, as `device → user`. */
function listAllowed(said: readonly IdentityFact[]): Set<string> {
  const users = new Set<string>();
  const seenWith = new Map<string, Set<string>>();
  for (const fact of said) {
    if (fact.kind !== 'pair') continue;
    users.add(fact.userId);
    if (fact.anonId === fact.userId) continue;
    const known = seenWith.get(fact.anonId) ?? new Set();
    seenWith.set(fact.anonId, known.add(fact.userId));
  }
  const allowed = new Set<string>();
  for (const [anonId, its] of seenWith)
    if (its.size === 1 && !users.has(anonId)) allowed.add(`${anonId} → ${[...its].join()}`);
  return allowed;
}

interface Played {
  readonly world: PersonsWorld;
  /** What removed migrations had said. */
  readonly removed: readonly IdentityFact[];
  /** An operator must decide, because facts are gone that only a lost ledger knew. */
  readonly stuck: string | undefined;
  readonly wasRestored: boolean;
}

async function play(steps: readonly Step[], overwrite: boolean): Promise<Played> {
  const world = createPersonsWorld({ overwrite });
  const saidBy = new Map<string, IdentityFact[]>();
  const removed = new Set<string>();
  const released = new Set<string>();
  const releases = new Map<string, readonly string[]>();
  const finished = new Set<string>();
  let backup: ReadonlyMap<string, Buffer> | undefined;
  let wasRestored = false;
  let number = 0;
  let checked = 0;
  let stuck: string | undefined;

  /** `hasSlept`: another process may have taken its place. */
  const note = (name: string, ended: Ended, hasSlept = false) => {
    for (const { merge, said } of world.merged.slice(checked))
      expect([...listAllowed(world.said.slice(0, said))]).toContain(merge);
    checked = world.merged.length;
    if (ended === 'done') finished.add(name);
    else finished.delete(name);
    if (typeof ended !== 'object' || (hasSlept && !/has lost/.test(ended.failed))) return;
    expect(ended.failed).toMatch(/cannot be made again|so "\w+" cannot be removed before/);
    expect(wasRestored).toBe(true);
    stuck = ended.failed;
  };
  const add = async (name: string, facts: readonly Fact[]) => {
    const all = facts.map(({ say, hour }) => {
      number += 1;
      return say(new Date(Date.UTC(2023, 0, 1, hour) + number).toISOString(), `v${number}`);
    });
    await world.add(name, all);
    saidBy.set(name, [...(saidBy.get(name) ?? []), ...all]);
    released.delete(name);
  };
  const resume = async (name: string, kill?: Kill, sleep?: Sleep): Promise<void> => {
    const meanwhile = async () => {
      if (!sleep || removed.has(sleep.name) || isReleasing(sleep.name)) return;
      await add(sleep.name, sleep.facts);
      await resume(sleep.name);
    };
    const options = { kill, hold: isHeld(name), ...toReleases(releases.get(name)) };
    const freeze = sleep && { freeze: { call: sleep.call, meanwhile } };
    note(name, await world.send(name, { ...options, ...freeze }), sleep !== undefined);
  };
  const release = async (kill?: Kill) => {
    const begun = [...releases.keys()].find((name) => !finished.has(name));
    if (begun !== undefined) return resume(begun, kill);
    const names = [...saidBy.keys()].filter(
      (name) => isHeld(name) && finished.has(name) && !released.has(name),
    );
    if (names.length === 0) return;
    for (const name of names) released.add(name);
    const by = `r${releases.size + 1}`;
    releases.set(by, names);
    return resume(by, kill);
  };
  const isReleasing = (name: string) =>
    [...releases].some(([by, names]) => names.includes(name) && !finished.has(by));

  for (const step of steps) {
    if (stuck !== undefined) break;
    if (step.kind === 'backUp') backup = world.backUp();
    else if (step.kind === 'restore') {
      if (!backup) continue;
      world.restore(backup);
      wasRestored = true;
    } else if (step.kind === 'release') await release(step.kill);
    else if (removed.has(step.name) || isReleasing(step.name)) continue;
    else if (step.kind === 'add') {
      await add(step.name, step.facts);
      await resume(step.name, step.kill, step.sleep);
    } else if (step.kind === 'resume') {
      if (saidBy.has(step.name)) await resume(step.name, step.kill);
    } else if (finished.has(step.name) && (!isHeld(step.name) || released.has(step.name))) {
      let ended = await world.remove(step.name, { kill: step.kill });
      if (ended === 'killed') ended = await world.remove(step.name);
      if (ended === 'done') removed.add(step.name);
      else expect(ended).toMatchObject({ failed: expect.stringMatching(/has lost/) });
    }
  }
  for (let round = 0; round < 3 && stuck === undefined; round += 1) {
    for (const name of saidBy.keys())
      if (stuck === undefined && !removed.has(name) && !isReleasing(name)) await resume(name);
    if (stuck === undefined) await release();
  }
  return { world, removed: [...removed].flatMap((name) => saidBy.get(name) ?? []), stuck, wasRestored };
}

const toReleases = (releases: readonly string[] | undefined) => (releases ? { releases } : {});

const ofPair = (merge: string): [string, string] => {
  const [anonId = '', userId = ''] = merge.split(' → ');
  return [anonId, userId];
};

async function compare({ world, removed, wasRestored }: Played, overwrite: boolean): Promise<void> {
  const all = createPersonsWorld({ overwrite });
  await all.add('all', world.said);
  expect(await all.send('all')).toBe('done');

  const sent = new Set(world.live.merges());
  const expected = new Set(all.live.merges());
  expect(expected).toEqual(listAllowed(world.said));
  // What was sent before later facts forbade it cannot be undone; nothing is said of these persons from then on.
  const contradicted = [...sent].filter((merge) => !expected.has(merge)).map(ofPair);
  // A ledger that is made again does not know what a migration sent before it was topped up.
  const reasons = ['contradicted_merge', ...(wasRestored ? ['shared_device', 'already_identified'] : [])];
  for (const [anonId] of contradicted) {
    const reported = reasons.some((reason) => world.reported.has(`${reason} ${anonId}`));
    expect({ anonId, reported }).toEqual({ anonId, reported: true });
  }
  // One that was entered and perhaps never sent counts as sent.
  const perhaps = IDS.filter((id) =>
    ['contradicted_merge', 'merged_user'].some((reason) => world.reported.has(`${reason} ${id}`)),
  );
  const tainted = new Set([...contradicted.flat(), ...perhaps]);
  for (const merge of expected) if (!sent.has(merge)) expect(perhaps).toContain(ofPair(merge)[1]);

  const gone = new Set(removed.flatMap((fact) => (fact.kind === 'person' ? [fact.distinctId] : [])));
  const show = ({ ids, properties }: LivePerson) => ({
    ids,
    properties:
      overwrite && !ids.some((id) => DEVICES.includes(id) && gone.has(id))
        ? properties
        : Object.keys(properties).sort(),
  });
  for (const person of all.live.list()) {
    if (person.ids.some((id) => tainted.has(id))) continue;
    const live = person.ids.map((id) => world.live.get(id));
    for (const one of live) expect(one && show(one)).toEqual(show(person));
  }
}

/*
 * Where values replace live ones, no ledger comes back from a backup: about one in a thousand such histories leaves
 * an older value of an anonymous id that a held migration would have replaced (ARCHITECTURE.md, one ledger).
 */
for (const overwrite of [true, false]) {
  it(`${overwrite ? 'replacing' : 'filling'}: any history leaves the persons of one migration`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(overwrite ? anyLiveStep : anyStep, { minLength: 1, maxLength: 8 }),
        async (steps) => {
          const played = await play(steps, overwrite);
          if (played.stuck === undefined) await compare(played, overwrite);
        },
      ),
      { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
  }, 600_000);
}
