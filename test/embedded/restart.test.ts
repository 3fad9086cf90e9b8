import { expect, test } from 'vitest';
import {
  type KeptChild,
  keepRunning,
  planRestart,
  RESTART_WINDOW_MS,
  RESTARTS_PER_WINDOW,
} from '../../src/embedded/restart.ts';
import { quiet } from './support.ts';

const NOW = 1_000_000;
const deaths = (count: number, ageMs: number) => Array.from({ length: count }, () => NOW - ageMs);

test('the first death is repaired at once, later ones ever more slowly', () => {
  const waits = [1, 2, 3, 4, 5].map((count) => planRestart(deaths(count, 0), NOW));
  expect(waits).toEqual([0, 100, 200, 400, 800].map((afterMs) => ({ kind: 'restart', afterMs })));
});

test('one death more than a window allows is the last', () => {
  expect(planRestart(deaths(RESTARTS_PER_WINDOW, 0), NOW).kind).toBe('restart');
  expect(planRestart(deaths(RESTARTS_PER_WINDOW + 1, 0), NOW)).toEqual({ kind: 'give_up', deaths: 6 });
});

test('deaths that are a window old are forgotten', () => {
  expect(planRestart([...deaths(20, RESTART_WINDOW_MS), NOW], NOW)).toEqual({ kind: 'restart', afterMs: 0 });
  expect(planRestart(deaths(6, RESTART_WINDOW_MS - 1), NOW).kind).toBe('give_up');
});

test.each(['stop', 'abandon'] as const)('%s reaches a child that is being started as well', async (way) => {
  const asked: string[] = [];
  const createChild = (name: string) => {
    let exit = () => {};
    const exited = new Promise<{ code: number; signal: null }>((resolve) => {
      exit = () => resolve({ code: 1, signal: null });
    });
    const end = (what: string) => {
      asked.push(`${what} ${name}`);
      exit();
    };
    return { pid: 1, exited, exit, stop: async () => end('stop'), abandon: () => end('abandon') };
  };
  const [first, second] = [createChild('first'), createChild('second')];
  const start = async () => {
    void kept[way]();
    return second;
  };
  const kept: KeptChild = keepRunning('Redis', first, start, () => {}, quiet);
  first.exit();
  await second.exited;
  expect(asked).toEqual([`${way} first`, `${way} second`]);
});
