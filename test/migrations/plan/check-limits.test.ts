import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { PreflightError } from '../../../src/lib/errors.ts';
import { buildPlan } from '../../../src/migrations/plan/build-plan.ts';
import { checkLimits, roundUp } from '../../../src/migrations/plan/check-limits.ts';
import type { Approval, Plan } from '../../../src/migrations/plan/plan.ts';
import { planInput } from './plan-input.ts';

const planOf = (events: number, more: Partial<Plan> = {}): Plan => ({
  ...buildPlan(planInput()),
  events: { count: events, exact: false },
  ...more,
});
const limits = (eventsPerMinute: number) => ({ ...planInput().limits, eventsPerMinute });
const refusal = (plan: Plan, speed: number, approval?: Approval): string => {
  try {
    checkLimits(plan, limits(speed), approval);
  } catch (error) {
    if (error instanceof PreflightError) return error.message;
    throw error;
  }
  throw new Error('it was let through');
};

describe('checkLimits', () => {
  test('lets through what the contract allows without asking', () => {
    expect(() => checkLimits(planOf(20_000_000), limits(10_000), undefined)).not.toThrow();
  });

  test('refuses one event more, or one event a minute more', () => {
    expect(refusal(planOf(20_000_001), 10_000)).toContain(
      'about 20,000,001 events; 20,000,000 are allowed without an approval',
    );
    expect(refusal(planOf(1), 10_001)).toContain(
      'limits.eventsPerMinute is 10,001; 10,000 are allowed without an approval',
    );
  });

  test('lets through what an approval covers, and no more', () => {
    const approval = { reference: 'request 4711', eventsPerMinute: 300_000, totalEvents: 900_000_000 };
    expect(() => checkLimits(planOf(900_000_000), limits(300_000), approval)).not.toThrow();
    expect(refusal(planOf(900_000_001), 300_000, approval)).toContain(
      '900,000,000 are allowed (approval "request 4711" included)',
    );
    expect(refusal(planOf(1), 300_001, approval)).toContain(
      '300,000 are allowed (approval "request 4711" included)',
    );
  });

  test('takes an approval of speed for no approval of volume', () => {
    expect(refusal(planOf(20_000_001), 20_000, { reference: 'r', eventsPerMinute: 20_000 })).toContain(
      '20,000,000 are allowed',
    );
  });

  test('asks nothing of the bundled API', () => {
    expect(() => checkLimits(planOf(1e12, { destination: 'bundled' }), limits(1e6), undefined)).not.toThrow();
  });

  test('gives a support request to paste: area, source, method, volume, speed', () => {
    const message = refusal(planOf(31_000_000), 50_000);
    expect(message).toContain('Target area: Data Management');
    expect(message).toContain(
      'Source: Amplitude export, 1 file, 1000 B, 2023-05-01 to 2023-05-01 (UTC, sampled)',
    );
    expect(message).toContain('Method: POST /batch/ with historical_migration true');
    expect(message).toContain('Total volume: about 31,000,000 events');
    expect(message).toContain('Speed: at most 50,000 events a minute, for about 10 h 20 min');
  });

  test('says what to write into the manifest, and that is enough', () => {
    const message = refusal(planOf(31_000_000), 50_000);
    const { approval } = parse(message.slice(message.indexOf('    approval:'))) as { approval: Approval };
    const manifest = manifestSchema.parse({ name: 'a', source: { type: 'amplitude', from: 'x' }, approval });
    expect(() => checkLimits(planOf(31_000_000), limits(50_000), manifest.approval)).not.toThrow();
  });

  test('offers to go slower where only the speed is too high', () => {
    expect(refusal(planOf(1), 50_000)).toContain('Or go slower: limits.eventsPerMinute of 10000 or less');
    expect(refusal(planOf(31_000_000), 50_000)).not.toContain('Or go slower');
  });
});

test.each([
  [37_200_000, 38_000_000],
  [20_000_000, 20_000_000],
  [7, 7],
  [0, 0],
])('rounds %i up to %i', (count, rounded) => {
  expect(roundUp(count)).toBe(rounded);
});
