import { describe, expect, it } from 'vitest';
import { estimateSeconds, renderDuration } from '../../bench/duration.ts';
import { parseOptions, SECTIONS } from '../../bench/options.ts';

describe('the options of a benchmark', () => {
  it('leave the hours of memory and growth out of the quick default', () => {
    const { plan } = parseOptions([]);
    expect([...plan.sections]).toEqual(SECTIONS.filter((name) => name !== 'memory' && name !== 'growth'));
    expect(estimateSeconds(plan)).toBeLessThan(10 * 60);
  });

  it('take every size with --full', () => {
    const { plan } = parseOptions(['--full']);
    expect([...plan.sections]).toEqual(SECTIONS);
    expect(plan.wholePath.map(({ records, latencyMs }) => [records, latencyMs])).toEqual([
      [100_000, 0],
      [100_000, 60],
      [1_000_000, 0],
      [1_000_000, 60],
    ]);
    expect(plan.memory.at(-1)).toBe(10_000_000);
  });

  it('choose sections, sizes, latencies and rounds', () => {
    const { plan } = parseOptions([
      '--only',
      'whole-path,memory',
      '--records',
      '60000',
      '--latency',
      '0',
      '--rounds',
      '2',
    ]);
    expect([...plan.sections]).toEqual(['whole-path', 'memory']);
    expect(plan.wholePath).toEqual([{ records: 60_000, latencyMs: 0, rounds: 2 }]);
    expect(plan.memory).toEqual([6_000, 60_000]);
  });

  it('say how many events questions are asked about', () => {
    const { plan } = parseOptions(['--only', 'questions', '--events', '1000000']);
    expect(plan.questions).toEqual({ events: 1_000_000, rounds: 1 });
    expect(() => parseOptions(['--events', '999'])).toThrow(/whole number from 1000/);
  });

  it('let the database work longer on a question, and say what growth ends with', () => {
    const { plan } = parseOptions([
      '--only',
      'growth',
      '--events',
      '20000',
      '--limit',
      '60',
      '--keep',
      'here',
    ]);
    expect(plan.growth).toEqual({ events: 20_000, rounds: 1, limitS: 60, folder: 'here' });
    expect(plan.questions).toMatchObject({ limitS: 60 });
    expect(() => parseOptions(['--limit', '0'])).toThrow(/whole number from 1/);
  });

  it('refuse what they do not know', () => {
    expect(() => parseOptions(['--only', 'speed'])).toThrow(/none of whole-path/);
    expect(() => parseOptions(['--records', '0'])).toThrow(/whole number from 1/);
    expect(() => parseOptions(['--fast'])).toThrow();
  });
});

describe('an expected duration', () => {
  it('is in the unit that fits', () => {
    expect([30.2, 600, 7_200].map(renderDuration)).toEqual(['31 seconds', '10 minutes', '2.0 hours']);
  });
});
