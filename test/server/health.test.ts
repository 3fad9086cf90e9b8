import { expect, test } from 'vitest';
import { UnavailableError } from '../../src/lib/errors.ts';
import { createHealthCheck } from '../../src/server/health.ts';

/** A database whose answer the test gives, or withholds. */
function setUp() {
  const clock = { now: 0 };
  const asked: { answer: () => void; fail: (error: Error) => void }[] = [];
  const db = {
    query: <R>() =>
      new Promise<R[]>((resolve, reject) => {
        asked.push({ answer: () => resolve([]), fail: reject });
      }),
  };
  return { clock, asked, check: createHealthCheck(db, () => clock.now) };
}

test('a database that answers is well, and one that fails is not until it answers again', async () => {
  const { asked, check } = setUp();
  const well = check();
  asked[0]?.answer();
  await well;
  const away = new Error('away');
  const failing = check();
  asked[1]?.fail(away);
  await expect(failing).rejects.toBe(away);
  const again = check();
  asked[2]?.answer();
  await again;
});

test('a database that is busy is asked once, and what it said last counts', async () => {
  const { clock, asked, check } = setUp();
  await Promise.all([check(), check()]);
  clock.now = 60_000;
  await check();
  expect(asked).toHaveLength(1);
  clock.now = 60_001;
  await expect(check()).rejects.toBeInstanceOf(UnavailableError);
  asked[0]?.answer();
  await Promise.resolve();
  const next = check();
  asked[1]?.fail(new Error('away'));
  await expect(next).rejects.toThrow('away');
  await expect(check()).rejects.toThrow('away'); // nothing better is known while it is asked once more
});
