import fc from 'fast-check';
import type { Kill, Stated } from './persons-world.ts';

/* What may happen to migrations to one project, one step after the other. */

export const DEVICES = ['a1', 'a2', 'a3'];
const USERS = ['u1', 'u2'];
export const IDS = [...DEVICES, ...USERS];

/** What a record says; without a time: every record gets one of its own, because of two values of one time either may win. */
type Said = ((time: string, value: string) => readonly Stated[]) & { toString(): string };

const named = (text: string, make: (time: string, value: string) => Stated): Said =>
  Object.assign((time: string, value: string) => [make(time, value)], { toString: () => text });

const anySaid: fc.Arbitrary<Said> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...DEVICES, 'u1'), fc.constantFrom(...USERS))
    .map(([anonId, userId]) =>
      named(`${anonId}=${userId}`, (time) => ({ kind: 'pair', anonId, userId, time })),
    ),
  fc
    .tuple(fc.constantFrom(...DEVICES), fc.constantFrom(...USERS), fc.boolean())
    .map(([anonId, userId, hasTime]) =>
      named(`(${anonId}=${userId}${hasTime ? '' : ' at some time'})`, (time) => ({
        ...{ kind: 'heard', anonId, userId, time, hasTime },
      })),
    ),
  fc.tuple(fc.constantFrom(...IDS), fc.constantFrom('plan', 'seats')).map(([distinctId, key]) =>
    named(`${distinctId}.${key}`, (time, value) => ({
      kind: 'person',
      distinctId,
      time,
      set: { [key]: value },
    })),
  ),
  fc.tuple(fc.constantFrom(...IDS), fc.constantFrom('plan', 'first')).map(([distinctId, key]) =>
    named(`${distinctId}.${key} once`, (time, value) => ({
      kind: 'person',
      distinctId,
      time,
      setOnce: { [key]: value },
    })),
  ),
  fc.constantFrom('plan', 'seats').map((key) =>
    named(`group.${key}`, (time, value) => ({
      kind: 'group',
      groupType: 'company',
      groupKey: 'acme',
      time,
      set: { [key]: value },
    })),
  ),
);

/** An alias call: a device has a user, or a user has another id by now. */
const anyAlias: fc.Arbitrary<Said> = fc
  .tuple(fc.constantFrom(...IDS), fc.constantFrom(...USERS, 'u3'))
  .filter(([from, to]) => from !== to)
  .map(([from, to]) =>
    Object.assign(
      (time: string): readonly Stated[] => [
        { kind: 'pair', anonId: from, userId: to, time },
        { kind: 'rename', from, to, time },
      ],
      { toString: () => `${from} is ${to}` },
    ),
  );

export interface Fact {
  readonly say: Said;
  readonly hour: number;
}
/** Half of the steps are shorter than the first range; a release of two migrations makes up to 800 calls. */
const anyCall = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 330 }) },
  { weight: 2, arbitrary: fc.integer({ min: 331, max: 900 }) },
);
const anyKill: fc.Arbitrary<Kill | undefined> = fc.option(fc.record({ call: anyCall, after: fc.boolean() }), {
  nil: undefined,
  freq: 3,
});

/** Those that begin with an h hold their persons. */
const NAMES = ['m1', 'm2', 'm3', 'h1', 'h2'] as const;
const anyName = fc.constantFrom(...NAMES);
export const isHeld = (name: string) => name.startsWith('h');

/** A process sleeps before a call while another migration, or its own successor, comes. */
export interface Sleep {
  readonly call: number;
  readonly name: string;
  readonly facts: readonly Fact[];
}

export type Step =
  | { kind: 'add'; name: string; facts: readonly Fact[]; kill: Kill | undefined; sleep: Sleep | undefined }
  /** Of some records of a migration, by their number, and others that it rejected. */
  | {
      kind: 'replay';
      of: string;
      again: readonly number[];
      facts: readonly Fact[];
      kill: Kill | undefined;
      sleep: Sleep | undefined;
    }
  | { kind: 'resume'; name: string; kill: Kill | undefined }
  | { kind: 'release'; kill: Kill | undefined }
  | { kind: 'remove'; name: string; kill: Kill | undefined }
  | { kind: 'forget'; name: string; kill: Kill | undefined }
  | { kind: 'backUp' }
  | { kind: 'restore' };

function anyStepOf(said: fc.Arbitrary<Said>): fc.Arbitrary<Step> {
  const anyFact: fc.Arbitrary<Fact> = fc.record({ say: said, hour: fc.nat({ max: 200 }) });
  const anyFacts = fc.array(anyFact, { minLength: 1, maxLength: 4 });
  const anySleep: fc.Arbitrary<Sleep | undefined> = fc.option(
    fc.record({ call: anyCall, name: anyName, facts: anyFacts }),
    { nil: undefined, freq: 3 },
  );
  return fc.oneof(
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
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('replay' as const),
        of: anyName,
        again: fc.array(fc.nat({ max: 7 }), { maxLength: 3 }),
        facts: fc.array(anyFact, { maxLength: 2 }),
        kill: anyKill,
        sleep: anySleep,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('resume' as const), name: anyName, kill: anyKill }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), kill: anyKill }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('remove' as const), name: anyName, kill: anyKill }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('forget' as const), name: anyName, kill: anyKill }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'backUp' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'restore' as const }) },
  );
}

export const anyStep = anyStepOf(anySaid);
/** Users may have other ids by now. */
export const anyNamedStep = anyStepOf(
  fc.oneof({ weight: 2, arbitrary: anySaid }, { weight: 1, arbitrary: anyAlias }),
);
