import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from '../../../src/server/database/turns.ts';

/** Work that ends when it is told to, and the order in which it began. */
function setUp() {
  const runInTurn = createTurns();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (place: 'first' | 'last', name: string) =>
    runInTurn(place, async () => {
      begun.push(name);
      await new Promise<void>((end) => void ends.push(end));
      return name;
    });
  /** Ends what runs, until nothing more begins. */
  async function endAll(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) await nextTurn();
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end();
      await nextTurn();
      await nextTurn();
    }
  }
  return { add, begun, endAll, runInTurn };
}

test('one piece of work at a time, in the order of arrival, those that go last at the end', async () => {
  const { add, begun, endAll } = setUp();
  const added = [
    add('last', 'running'),
    add('last', 'l1'),
    add('first', 'f1'),
    add('last', 'l2'),
    add('first', 'f2'),
  ];
  expect(begun).toEqual(['running']);
  await endAll();
  expect(begun).toEqual(['running', 'f1', 'f2', 'l1', 'l2']);
  expect(await Promise.all(added)).toEqual(['running', 'l1', 'f1', 'l2', 'f2']);
});

test('those that go last are let in after eight others', async () => {
  const { add, begun, endAll } = setUp();
  void add('first', 'running');
  void add('last', 'l1');
  void add('last', 'l2');
  for (let n = 1; n <= 20; n++) void add('first', `f${n}`);
  await endAll();
  expect([begun.indexOf('l1'), begun.indexOf('l2')]).toEqual([9, 18]);
});

test('what follows at once from a result comes before what goes last', async () => {
  const { add, begun, endAll, runInTurn } = setUp();
  const request = runInTurn('first', async () => undefined).then(() => add('first', 'continues'));
  void add('last', 'question');
  await endAll();
  await request;
  expect(begun).toEqual(['continues', 'question']);
});

test('work that fails lets the next one begin', async () => {
  const { runInTurn } = setUp();
  const failed = runInTurn('first', async () => Promise.reject(new Error('no')));
  const next = runInTurn('last', async () => 'next');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
  expect(await runInTurn('first', async () => 'idle')).toBe('idle');
});
