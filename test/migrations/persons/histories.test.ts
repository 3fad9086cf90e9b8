import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Window } from '../../../src/pipeline/limit-to-window.ts';
import type { LivePerson } from '../../support/live-persons.ts';
import { countCases } from '../../support/test-seed.ts';
import {
  anyNamedStep,
  anyStep,
  DEVICES,
  type Fact,
  IDS,
  isHeld,
  type Sleep,
  type Step,
} from './history-steps.ts';
import {
  createPersonsWorld,
  type Ended,
  type Kill,
  type PersonsWorld,
  type Stated,
} from './persons-world.ts';
import { expectPersonsToHold } from './split-histories.ts';

/*
 * Histories of migrations to one project: split exports, windows, records that are only heard, top-ups, replays, holds
 * and releases, removals, a ledger that comes back from a backup, kills at any call. In the end there are the persons that one migration of everything makes,
 * and no merge was sent that the facts known by then forbid (I2, I11). Once hashes were forgotten, nothing is merged
 * and nothing that is live is replaced any more. Where users have other ids by now, more may stay apart.
 */

const RUNS = Number(process.env['BACKHAUL_HISTORIES'] ?? countCases(60, 600));

/** Merges that all of these facts together allow, as `device → user`. */
function listAllowed(said: readonly Stated[]): Set<string> {
  const users = new Set<string>();
  const seenWith = new Map<string, Set<string>>();
  const counted = new Set<string>();
  for (const fact of said) {
    if (fact.kind !== 'pair' && fact.kind !== 'heard') continue;
    users.add(fact.userId);
    if (fact.anonId === fact.userId) continue;
    if (fact.kind === 'pair') counted.add(fact.anonId);
    const known = seenWith.get(fact.anonId) ?? new Set();
    seenWith.set(fact.anonId, known.add(fact.userId));
  }
  const allowed = new Set<string>();
  for (const [anonId, its] of seenWith)
    if (its.size === 1 && counted.has(anonId) && !users.has(anonId))
      allowed.add(`${anonId} → ${[...its].join()}`);
  return allowed;
}

/** Between the first and the last of all records. */
const BORDER = '2023-01-05T04:00:00.000Z';
/** Replays have that of their migration. */
const windowOf = (name: string): Window =>
  /^[mh]1/.test(name) ? { until: BORDER } : name.startsWith('m2') ? { from: BORDER } : {};

interface Played {
  readonly world: PersonsWorld;
  /** What removed migrations had said. */
  readonly removed: readonly Stated[];
  /** An operator must decide, because facts are gone that only a lost ledger knew. */
  readonly stuck: string | undefined;
  readonly wasRestored: boolean;
  /** What was live when the hashes of the ledger were dropped. */
  readonly forgotten: Live | undefined;
}

interface Live {
  readonly merges: number;
  readonly groupValues: number;
  readonly properties: ReadonlyMap<string, LivePerson['properties']>;
}

const listLive = ({ live }: PersonsWorld): Live => ({
  merges: live.merges().length,
  groupValues: live.groupValues().length,
  properties: new Map(IDS.map((id) => [id, { ...live.get(id)?.properties }])),
});

async function play(
  steps: readonly Step[],
  /** Whether values of a migration replace live ones. */
  overwrite: boolean | ((name: string) => boolean),
  /** Null: whether merges hold is not asked yet. */
  allowedBy: typeof listAllowed | null = listAllowed,
): Promise<Played> {
  const overwrites = typeof overwrite === 'boolean' ? () => overwrite : overwrite;
  const world = createPersonsWorld({ overwrite: overwrites('m1') });
  const saidBy = new Map<string, (readonly Stated[])[]>();
  const removed = new Set<string>();
  const released = new Set<string>();
  const releases = new Map<string, readonly string[]>();
  const finished = new Set<string>();
  let backup: ReadonlyMap<string, Buffer> | undefined;
  let wasRestored = false;
  let number = 0;
  let checked = 0;
  let stuck: string | undefined;
  let forgotten: Live | undefined;

  /** `hasSlept`: another process may have taken its place. */
  const note = (name: string, ended: Ended, hasSlept = false) => {
    for (const { merge, said } of world.merged.slice(checked))
      if (allowedBy) expect([...allowedBy(world.said.slice(0, said))]).toContain(merge);
    checked = world.merged.length;
    if (ended === 'done') finished.add(name);
    else finished.delete(name);
    if (typeof ended !== 'object' || (hasSlept && !/has lost/.test(ended.failed))) return;
    expect(ended.failed).toMatch(/cannot be made again|so "\w+" cannot be removed before/);
    expect(wasRestored).toBe(true);
    stuck = ended.failed;
  };
  const add = async (name: string, facts: readonly Fact[], again: readonly (readonly Stated[])[] = []) => {
    const fresh = facts.map(({ say, hour }) => {
      number += 1;
      return say(new Date(Date.UTC(2023, 0, 1, hour) + number).toISOString(), `v${number}`);
    });
    const all = [...again, ...fresh];
    world.overwrite = overwrites(name);
    await world.add(name, all.flat(), windowOf(name));
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
    world.overwrite = overwrites(name);
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
  /** While a migration has not finished, only what is held may be replayed. */
  const replay = async ({ of, again, facts, kill, sleep }: Extract<Step, { kind: 'replay' }>) => {
    const records = saidBy.get(of);
    if (!records || (!finished.has(of) && !isHeld(of))) return;
    const some = again.flatMap((at) => (records[at] ? [records[at]] : []));
    if (some.length + facts.length === 0) return;
    const count = [...saidBy.keys()].filter((name) => name.startsWith(`${of}-replay`)).length;
    const name = `${of}-replay-${count + 1}`;
    await add(name, facts, some);
    await resume(name, kill, sleep);
  };
  const forget = async (name: string, kill?: Kill) => {
    let ended = await world.remove(name, { forget: true, kill });
    if (ended === 'killed') ended = await world.remove(name, { forget: true });
    if (ended !== 'done') expect(ended).toMatchObject({ failed: expect.stringMatching(/no migration/) });
    for (const names of [saidBy, finished, released]) names.delete(name);
    forgotten ??= listLive(world);
    backup = undefined;
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
    else if (step.kind === 'replay') await replay(step);
    else if (removed.has(step.name) || isReleasing(step.name)) continue;
    else if (step.kind === 'add') {
      await add(step.name, step.facts);
      await resume(step.name, step.kill, step.sleep);
    } else if (step.kind === 'resume') {
      if (saidBy.has(step.name)) await resume(step.name, step.kill);
    } else if (step.kind === 'forget') {
      if (finished.has(step.name)) await forget(step.name, step.kill);
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
  if (stuck === undefined)
    for (const name of released)
      expect({ name, isHeld: await world.isHeld(name) }).toEqual({ name, isHeld: false });
  const gone = [...removed].flatMap((name) => saidBy.get(name)?.flat() ?? []);
  return { world, removed: gone, stuck, wasRestored, forgotten };
}

const toReleases = (releases: readonly string[] | undefined) => (releases ? { releases } : {});

const ofPair = (merge: string): [string, string] => {
  const [anonId = '', userId = ''] = merge.split(' → ');
  return [anonId, userId];
};

/** Values of groups always replace, so none may arrive behind a newer one. */
function compareGroups({ world, wasRestored }: Played): void {
  const times = new Map<unknown, string>();
  for (const fact of world.said)
    if (fact.kind === 'group') for (const value of Object.values(fact.set)) times.set(value, fact.time);
  const live = new Map<string, string>();
  for (const { of, value } of world.live.groupValues()) {
    const time = times.get(value) ?? '';
    if (!wasRestored)
      expect({ of, time, isNewer: time >= (live.get(of) ?? '') }).toMatchObject({ isNewer: true });
    live.set(of, time);
  }
}

async function compare(played: Played, overwrite: boolean): Promise<void> {
  const { world, removed, wasRestored } = played;
  const all = createPersonsWorld({ overwrite });
  await all.add('all', world.said);
  expect(await all.send('all')).toBe('done');

  compareGroups(played);
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
  // A ledger that is made again decides about what was sent by the facts of its migration alone, so it may take a merge
  // for sent that was never made, and what was said of the device for perhaps the user's.
  const theirs = world.said.flatMap((fact) =>
    wasRestored && fact.kind === 'pair' && perhaps.includes(fact.anonId) ? [fact.userId] : [],
  );
  const tainted = new Set([...contradicted.flat(), ...perhaps, ...theirs]);
  for (const merge of expected) if (!sent.has(merge)) expect(perhaps).toContain(ofPair(merge)[1]);

  const gone = new Set(removed.flatMap((fact) => (fact.kind === 'person' ? [fact.distinctId] : [])));
  const away = new Set([...sent].map((merge) => ofPair(merge)[0]));
  // Of values that fill a gap, the one that came first stays.
  const once = new Set(
    world.said.flatMap((fact) => (fact.kind === 'person' ? Object.values(fact.setOnce ?? {}) : [])),
  );
  const show = ({ ids, properties }: LivePerson) => ({
    ids,
    properties:
      overwrite && !ids.some((id) => (DEVICES.includes(id) || away.has(id)) && gone.has(id))
        ? Object.fromEntries(
            Object.entries(properties).map(([key, value]) => [key, once.has(value) ? 'once' : value]),
          )
        : Object.keys(properties).sort(),
  });
  for (const person of all.live.list()) {
    if (person.ids.some((id) => tainted.has(id))) continue;
    const live = person.ids.map((id) => world.live.get(id));
    for (const one of live) expect(one && show(one)).toEqual(show(person));
  }
}

function compareForgotten(world: PersonsWorld, before: Live): void {
  const after = listLive(world);
  expect({ ...after, properties: undefined }).toEqual({ ...before, properties: undefined });
  for (const [id, properties] of before.properties)
    expect(after.properties.get(id)).toMatchObject(properties);
}

for (const overwrite of [true, false]) {
  it(`${overwrite ? 'replacing' : 'filling'}: any history leaves the persons of one migration`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 8 }), async (steps) => {
        const played = await play(steps, overwrite);
        if (played.stuck !== undefined) return;
        if (played.forgotten) compareForgotten(played.world, played.forgotten);
        else await compare(played, overwrite);
      }),
      { numRuns: RUNS },
    );
  }, 600_000);
}

it('where users have other ids by now, no history merges whom one migration keeps apart', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyNamedStep, { minLength: 1, maxLength: 8 }), async (steps) => {
      const { world } = await play(steps, false, null);
      await expectPersonsToHold(world, 'none');
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
}, 600_000);

/** Held migrations are released under the settings that they have. */
const replacesByName = (name: string) => isHeld(name) || name.startsWith('r') || name.endsWith('1');

it('where some migrations replace live values and others do not, no older one replaces a newer one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 8 }), async (steps) => {
      const { world, wasRestored, stuck, forgotten } = await play(steps, replacesByName);
      if (wasRestored || stuck !== undefined || forgotten) return;
      const times = new Map<unknown, string>();
      const once = new Set<unknown>();
      for (const fact of world.said) {
        if (fact.kind !== 'person') continue;
        for (const value of Object.values(fact.set ?? {})) times.set(value, fact.time);
        for (const value of Object.values(fact.setOnce ?? {})) once.add(value);
      }
      for (const one of world.live.replaced()) {
        if (once.has(one.before)) continue;
        const { id, name, before, value } = one;
        expect({
          id,
          name,
          isNewer: (times.get(value) ?? '') >= (times.get(before) ?? ''),
          before,
          value,
        }).toMatchObject({ isNewer: true });
      }
    }),
    { numRuns: 2 * RUNS },
  );
}, 600_000);
