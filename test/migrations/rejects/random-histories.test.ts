import { expect, it } from 'vitest';
import { createRandom } from '../../support/seeded-random.ts';
import { countCases, TEST_SEED } from '../../support/test-seed.ts';
import { DAYS, drawHistory, formatHistory, ODD, parseRecord, type Step } from './histories/history.ts';
import { playHistory } from './histories/play-history.ts';

/*
 * Records that share ids, of one to three events, some of which the destination refuses for a while; top-ups, and
 * replays and removals of anything at any time, each of which may be killed, resumed and given up. Whatever happened, each event is there in the end, none is doubled, and `verify`
 * explains every number on the way.
 */

const imported = (...files: readonly (readonly string[])[]): Extract<Step, { kind: 'import' }> => ({
  ...{ kind: 'import', isRefusing: false },
  files: files.map((file) => file.map(parseRecord)),
});
const refused = (...files: readonly (readonly string[])[]): Step => ({
  ...imported(...files),
  isRefusing: true,
});
const replayed = (more: Partial<Extract<Step, { kind: 'replay' }>> = {}): Step => ({
  ...{ kind: 'replay', of: 0, isCorrected: true, isRefusing: false, again: false },
  ...more,
});
const removed = (of = 0): Step => ({ kind: 'remove', of });

const HISTORIES: Readonly<Record<string, readonly Step[]>> = {
  'as many records as different events, though not one of each': [imported(['1: Right', '1: Right, Left'])],
  'an event that collides once another one of its record was replayed': [
    imported(
      ['1: Bought two, Bought three', '1: Bought three'],
      ['1: Bought three, Left, Bought one', '1: Left, Bought three'],
    ),
    replayed(),
    imported(['1: Bought two, Bought three, Bought three']),
  ],
  'an event that stays, accepted of a record that was refused in part': [
    refused(['1: Bought two, Bought three', '1: Odd, Bought one', '1: Bought three, Bought one, Left']),
  ],
  'an event that collides once what was refused of its record was replayed': [
    refused(['1: Odd, Bought one']),
    replayed(),
    imported(['1: Left, Bought two']),
  ],
  'an event that collides in a replay, accepted of a record that its migration refused in part': [
    refused(
      ['2: Left, Left, Right', '1: Left', '1: Left'],
      ['2 later: Right, Bought one', '1: Odd, Bought two', '1: Left, Right'],
    ),
    imported(['1 later: Odd, Bought one', '1 later: Bought one, Bought one, Odd']),
  ],
  'the same between two replays': [
    refused(['1: Left', '1 later: Odd, Bought two']),
    replayed({ isRefusing: true }),
    imported(['1 later: Left, Bought one']),
    replayed(),
  ],
  'what is refused of a record, while an accepted event of it collides': [
    refused(['1: Odd, Bought one', '1: Odd', '1: Left, Bought two']),
  ],
  'the rest of a record that was refused in part, where that collides': [
    refused(['1: Left, Odd one', '1: Odd two, Left']),
    imported(['1: Right, Odd three']),
    replayed(),
  ],
  'a replayed record that is equal to one that its migration rejected': [
    imported(
      ['2: Bought one'],
      ['1 later: Bought two', '1: Bought two, Bought three, Bought three', '1: Bought one'],
    ),
  ],
  'the same of records that are one event each': [
    imported(
      ['1: Bought one', '1: Bought two', '1 later: Bought two'],
      ['2: Bought one', '2: Bought two', '2 later: Bought one'],
    ),
  ],
  'repeats of a record that collides with a replayed one': [
    imported(['1 later: Odd two']),
    replayed(),
    imported(['1: Odd one'], ['1: Odd one']),
    imported(['1: Odd three'], ['1: Odd three']),
  ],
  'a content that a replay rejects and that stays in its migration later': [
    imported(
      ['1: Left, Left', '1 later: Left, Bought three, Bought three', '1 later: Left'],
      ['2: Bought three', '1: Bought three, Bought two', '1: Bought two'],
    ),
    replayed(),
    imported(
      ['1: Left, Bought three', '1 later: Bought one, Bought one', '1: Bought one, Bought two, Left'],
      ['1: Bought two'],
    ),
    replayed({ isCorrected: false }),
    replayed({ of: 0.4 }),
  ],
  'what a removed replay has delivered': [
    imported(['1 later: Bought one']),
    replayed(),
    removed(0.9),
    imported(['1: Bought two'], ['1: Bought two']),
  ],
  'what a removed migration has delivered, while its replay has rejects': [
    imported(['1: Bought one', '1 later: Bought two']),
    replayed({ isCorrected: false }),
    removed(),
  ],
  'a record of which one event collides with that of a removed replay, and another one equals it': [
    imported(['1 later: Left, Bought one']),
    replayed(),
    removed(0.9),
    imported(['1 later: Left, Bought two, Right'], ['1: Right, Bought one']),
  ],
  'the same, while the destination refuses a third': [
    imported(['1 later: Left, Bought one']),
    replayed(),
    removed(0.9),
    imported(['1 later: Left, Bought two, Odd', '1: Right, Right, Odd']),
    replayed({ isRefusing: true }),
  ],
  'a record of a removed replay that was kept where others collide': [
    imported(['1 later: Bought one', '2 later: Left, Bought one']),
    replayed(),
    imported(['1: Bought two', '2: Left, Bought two']),
    removed(0.9),
    imported(['3: Left']),
  ],
  'what a replay has sent before it was killed, once its migration was removed': [
    imported(['1: Bought one', '1 later: Bought two', '2 later: Left', '3 later: Left, Right']),
    replayed({ cut: { at: 'request', after: 1, isTaken: false } }),
    removed(),
  ],
  'the same of a record of several events': [
    imported(['1: Bought one', '1 later: Bought two, Left', '2 later: Left', '3 later: Left, Right']),
    replayed({ cut: { at: 'request', after: 1, isTaken: false } }),
    removed(),
  ],
  'what a replay has sent before it was given up, once its migration was removed': [
    imported(['1: Bought one', '1 later: Bought two', '2 later: Left', '3 later: Left, Right']),
    replayed({ cut: { at: 'request', after: 1, isTaken: false } }),
    { kind: 'cancel', of: 0 },
    removed(),
  ],
  'the same, where that replay was removed first': [
    imported(['1: Bought one', '1 later: Bought two', '2 later: Left', '3 later: Left, Right']),
    replayed({ cut: { at: 'request', after: 1, isTaken: false } }),
    { kind: 'cancel', of: 0 },
    removed(0.9),
    removed(),
  ],
  'what a removed replay has sent before it was given up, once a top-up came': [
    imported(['1 later: Bought one', '2 later: Left', '3 later: Left, Right']),
    replayed({ cut: { at: 'request', after: 1, isTaken: true } }),
    { kind: 'cancel', of: 0 },
    removed(0.9),
    imported(['1: Bought two', '3: Right, Bought one']),
    removed(),
  ],
  'a record of several events that collides in a replay': [
    imported(['1: Left, Bought one', '1 later: Left, Bought two']),
    replayed(),
    replayed({ of: 0.9 }),
  ],
};

it.each(Object.entries(HISTORIES))('loses and doubles nothing: %s', async (_, steps) => {
  expect(await playHistory(steps)).toEqual([]);
  // Its events are in several ranges.
  expect(await playHistory(steps, 2)).toEqual([]);
});

const CASES = countCases(40, 900);

/** `ids`: of the items of a record; fewer than these where some share one. */
async function playAll(ids?: number): Promise<void> {
  for (let number = 0; number < CASES; number += 1) {
    const random = createRandom(TEST_SEED * 100_000 + number);
    const steps = drawHistory(random, ids);
    const rangeRows = random() < 0.5 ? undefined : 1 + Math.floor(random() * 4);
    const problems = await playHistory(steps, rangeRows, ids !== undefined);
    expect(problems, `seed ${TEST_SEED}, history ${number}:\n  ${formatHistory(steps)}\n`).toEqual([]);
  }
}

const TIMEOUT_MS = 20_000 + 1_000 * CASES;

it('loses and doubles nothing, whatever is drawn', { timeout: TIMEOUT_MS }, () => playAll());
it('loses nothing where items have ids of their own, also two of one record', { timeout: TIMEOUT_MS }, () =>
  playAll(2),
);

it('loses nothing of a record of which two events share an id, and one of these is refused', async () => {
  const items = ['one', 'three'].map((v) => ({ e: ODD, v, i: 0 }));
  const record = { u: 'user', t: DAYS[0], n: '1', items };
  const steps: Step[] = [{ kind: 'import', files: [[record]], isRefusing: true }];
  expect(await playHistory(steps, undefined, true)).toEqual([]);
});

it('sends equal events of a record that share an id once, also under ids of the whole record', async () => {
  const toRecord = (...contents: readonly string[]) => ({
    ...{ u: 'user', t: DAYS[0], n: '1' },
    items: contents.map((v) => ({ e: 'Bought', v, i: 0 })),
  });
  const files = [[toRecord('one', 'one'), toRecord('two')]];
  expect(await playHistory([{ kind: 'import', files, isRefusing: false }], undefined, true)).toEqual([]);
});
