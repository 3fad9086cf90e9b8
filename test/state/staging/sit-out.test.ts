import { describe, expect, it } from 'vitest';
import { ConfigError, UnavailableError } from '../../../src/lib/errors.ts';
import { sitOut } from '../../../src/state/staging/sit-out.ts';

/** A server that is away for so long, on a clock that only waiting moves. */
function awayFor(ms: number) {
  let nowMs = 0;
  const waits: number[] = [];
  const patience = {
    outageMs: () => 30_000,
    now: () => nowMs,
    random: () => 0.999,
    wait: async (wait: number) => {
      waits.push(Math.round(wait));
      nowMs += wait;
    },
  };
  const work = async () => {
    if (nowMs < ms) throw new UnavailableError(`away at ${nowMs}`);
    return 'here';
  };
  return { waits, run: () => sitOut(work, patience) };
}

describe('an outage', () => {
  it('is sat out, with waits that grow to two seconds', async () => {
    const { run, waits } = awayFor(9_000);
    expect(await run()).toBe('here');
    expect(waits).toEqual([100, 200, 400, 800, 1_599, 1_999, 1_999, 1_999]);
  });

  it('that lasts longer than it is waited for is an error', async () => {
    await expect(awayFor(30_000).run()).resolves.toBe('here');
    await expect(awayFor(33_000).run()).rejects.toThrow(UnavailableError);
  });

  it('is no attempt that takes long and fails: the next one may be answered at once', async () => {
    let nowMs = 0;
    const patience = { outageMs: () => 30_000, now: () => nowMs, random: () => 0, wait: async () => {} };
    const failAfter = (ms: number) => () => {
      nowMs += ms;
      throw new UnavailableError(`silent until ${nowMs}`);
    };
    const attempts = [failAfter(60_000), () => 'here'];
    expect(await sitOut(async () => attempts.shift()?.(), patience)).toBe('here');
    await expect(sitOut(async () => failAfter(60_000)(), patience)).rejects.toThrow('silent until 180000');
  });

  it('is no other error', async () => {
    const { run, waits } = awayFor(0);
    await run();
    const work = async () => {
      throw new ConfigError('wrong key');
    };
    const patience = { outageMs: () => 30_000, now: () => 0, random: () => 0, wait: async () => {} };
    await expect(sitOut(work, patience)).rejects.toThrow('wrong key');
    expect(waits).toEqual([]);
  });
});
