import { html } from 'hono/html';
import type { SSEStreamingApi } from 'hono/streaming';
import { expect, test } from 'vitest';
import type { LiveValue } from '../../../src/server/operations/live-value.ts';
import { sendChanges } from '../../../src/server/operations/send-changes.ts';

/** A stream whose reader takes what is written when it is told to, and the value that it shows. */
function openStream() {
  const written: unknown[] = [];
  let taken: Promise<void> = Promise.resolve();
  let pass: (value: string | undefined) => void = () => {};
  const take = async (what: unknown) => {
    written.push(what);
    await taken;
  };
  const events = { writeSSE: take, write: take, onAbort: () => {} } as unknown as SSEStreamingApi;
  const live = {
    listen(listener: typeof pass) {
      pass = listener;
      return () => {};
    },
  } as unknown as LiveValue<string>;
  const { signal } = new AbortController();
  void sendChanges(events, live, { render: (text) => ({ part: html`${text}` }), closing: signal });
  return {
    written,
    wait(until: Promise<void>) {
      taken = until;
    },
    async pass(value: string | undefined) {
      pass(value);
      await new Promise(setImmediate);
    },
  };
}

const part = (text: string) => ({ data: JSON.stringify({ part: text }) });

test('what has changed is sent, and whether it can be read', async () => {
  const { written, pass } = openStream();
  for (const value of ['a', 'a', undefined, undefined, 'a', 'b']) await pass(value);
  expect(written).toEqual([
    part('a'),
    { event: 'away', data: 'away' },
    { event: 'live', data: 'live' },
    part('b'),
  ]);
});

test('a reader who takes nothing is sent nothing more, and the newest value once he does', async () => {
  const { written, pass, wait } = openStream();
  let take = () => {};
  wait(
    new Promise((resolve) => {
      take = resolve;
    }),
  );
  for (const value of ['a', 'b', 'c']) await pass(value);
  expect(written).toEqual([part('a')]);
  take();
  await pass('c');
  await pass('d');
  expect(written.slice(1).at(-1)).toEqual(part('d'));
  expect(written.length).toBeLessThanOrEqual(3);
});

test('a stream that is silent for long says that it is there', async () => {
  const { written, pass } = openStream();
  for (let time = 0; time < 17; time += 1) await pass('a');
  expect(written).toEqual([part('a'), ': still here\n\n']);
});
