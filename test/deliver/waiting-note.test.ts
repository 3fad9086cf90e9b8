import { expect, it } from 'vitest';
import { createWaitingNote } from '../../src/deliver/waiting-note.ts';
import { createManualClock } from '../support/manual-clock.ts';

function createWait() {
  let end = () => {};
  const wait = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { wait, end: () => end() };
}

it('a wait is long from 300 ms on, until it ends', async () => {
  const clock = createManualClock();
  const { during, isLong } = createWaitingNote(clock.now);
  clock.pass(1_000);
  expect(isLong()).toBe(false);
  const { wait, end } = createWait();
  const noted = during(wait);
  clock.pass(299);
  expect(isLong()).toBe(false);
  clock.pass(1);
  expect(isLong()).toBe(true);
  end();
  await noted;
  expect(isLong()).toBe(false);
});

it('counts from the last wait that ended, and one that failed has ended too', async () => {
  const clock = createManualClock();
  const { during, isLong } = createWaitingNote(clock.now);
  const [first, second] = [createWait(), createWait()];
  const noted = during(first.wait);
  clock.pass(200);
  const failed = during(second.wait.then(() => Promise.reject(new Error('gone'))));
  clock.pass(200);
  expect(isLong()).toBe(true);
  second.end();
  await expect(failed).rejects.toThrow('gone');
  clock.pass(299);
  expect(isLong()).toBe(false);
  clock.pass(1);
  expect(isLong()).toBe(true);
  first.end();
  await noted;
});
