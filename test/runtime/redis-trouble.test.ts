import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchRedisTrouble } from '../../src/runtime/redis-trouble.ts';

let redis: EventEmitter & { status: string; ping(): Promise<string> };
let answer: (() => void) | undefined;
let said: (string | undefined)[];
let lines: string[];
let close: () => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  [answer, said, lines] = [undefined, [], []];
  redis = Object.assign(new EventEmitter(), {
    status: 'ready',
    options: {},
    ping: async () => 'PONG',
  });
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text).msg) });
  const trouble = watchRedisTrouble(redis as unknown as Redis, log);
  trouble.watch((reason) => said.push(reason));
  ({ close } = trouble);
});
afterEach(() => {
  close();
  vi.useRealTimers();
});

const hang = () => {
  redis.ping = () =>
    new Promise((resolve) => {
      answer = () => resolve('PONG');
    });
};

it('says that Redis takes connections and answers nothing, once, and that it answers again', async () => {
  await vi.advanceTimersByTimeAsync(20_000);
  expect(said).toEqual([]);
  hang();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said).toEqual(['no answer for more than 10 s']);
  redis.ping = async () => 'PONG';
  answer?.();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(said).toEqual(['no answer for more than 10 s', undefined]);
  expect(lines).toEqual(['Redis cannot be used; waiting for it', 'Redis can be used again']);
});

it('leaves it to the errors of a connection that is lost to say why', async () => {
  hang();
  await vi.advanceTimersByTimeAsync(8_000);
  redis.status = 'reconnecting';
  redis.emit('error', new Error('connect ECONNREFUSED'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said).toEqual(['connect ECONNREFUSED']);
});
