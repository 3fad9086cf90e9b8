import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildApi } from '../../../src/server/app.ts';
import { createProjectKey, ensureProject } from '../../../src/server/auth/projects.ts';
import { createThrottle, decideAdmission, type Recent } from '../../../src/server/auth/throttle.ts';
import { onEveryDatabase, silent } from '../../support/databases.ts';
import { createPersonalKey } from '../../support/keys.ts';

/** Asks at each moment; tells which moments were admitted. */
function admitted(moments: readonly number[], perMinute: number): number[] {
  let recent: Recent = [];
  return moments.filter((atMs) => {
    const decision = decideAdmission(recent, atMs, perMinute);
    recent = decision.recent;
    return decision.kind === 'admitted';
  });
}

describe('the decision', () => {
  test('admits up to the limit, and the next one when a minute has passed', () => {
    expect(admitted([0, 10, 20, 59_999, 60_999], 3)).toEqual([0, 10, 20]);
    expect(admitted([0, 10, 20, 61_000], 3)).toEqual([0, 10, 20, 61_000]);
  });

  test('says when to come again, and then admits', () => {
    const decision = decideAdmission([{ second: 5, count: 2 }], 8_200, 2);
    expect(decision).toMatchObject({ kind: 'throttled', retryAfterSeconds: 58 });
    expect(decideAdmission(decision.recent, 8_200 + 58_000, 2).kind).toBe('admitted');
    expect(decideAdmission(decision.recent, 8_200 + 57_000, 2).kind).toBe('throttled');
  });

  test('does not count what it refuses', () => {
    const refused = Array.from({ length: 600 }, (_, i) => 100 + i * 100);
    expect(admitted([0, ...refused, 61_000], 1)).toEqual([0, 61_000]);
  });

  test('no 60 seconds hold more than the limit, and a key remembers 61 seconds at most', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 300 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 12 }), (steps, perMinute) => {
        let atMs = 0;
        let recent: Recent = [];
        const kept: number[] = [];
        for (const step of steps) {
          atMs += step;
          const decision = decideAdmission(recent, atMs, perMinute);
          recent = decision.recent;
          expect(recent.length).toBeLessThanOrEqual(61);
          if (decision.kind === 'admitted') kept.push(atMs);
        }
        for (const start of kept) {
          const within = kept.filter((moment) => moment >= start && moment < start + 60_000);
          expect(within.length).toBeLessThanOrEqual(perMinute);
        }
      }),
    );
  });
});

test('a throttle counts each key by itself, and forgets the one whose last request is the longest ago', () => {
  const throttle = createThrottle(1, () => 0, 2);
  throttle.admit(1);
  throttle.admit(2);
  expect(() => throttle.admit(1)).toThrow('Expected available in 61 seconds.');
  throttle.admit(3); // one more than it remembers: key 2 goes
  expect(() => throttle.admit(1)).toThrow('throttled');
  throttle.admit(2);
});

onEveryDatabase('a limited API', (db) => {
  test('answers 429 with the time to wait, to that key alone, and takes events in without limit', async () => {
    let nowMs = 0;
    const app = buildApi({ db: db(), log: silent, now: () => nowMs, requestsPerMinute: 2 });
    const projectKey = createProjectKey();
    await ensureProject(db(), { name: 'limited', projectKey });
    const [first, second] = [
      await createPersonalKey(db(), { label: 'a', scopes: [] }),
      await createPersonalKey(db(), { label: 'b', scopes: [] }),
    ];
    const ask = (key: string) =>
      app.request('/api/users/@me/', { headers: { authorization: `Bearer ${key}` } });
    expect([(await ask(first)).status, (await ask(first)).status]).toEqual([200, 200]);
    nowMs = 60_500;
    const refused = await ask(first);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toEqual({
      type: 'throttled_error',
      code: 'throttled',
      detail: 'Request was throttled. Expected available in 1 second.',
      attr: null,
    });
    expect((await ask(second)).status).toBe(200);
    nowMs = 61_000;
    expect((await ask(first)).status).toBe(200);

    const body = JSON.stringify({ api_key: projectKey, event: 'e', distinct_id: 'd' });
    for (let i = 0; i < 5; i++) {
      expect((await app.request('/capture/', { method: 'POST', body })).status).toBe(200);
    }
  });
});
