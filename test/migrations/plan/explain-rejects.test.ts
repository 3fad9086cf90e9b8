import { expect, test } from 'vitest';
import { mapped, rejected } from '../../../src/contract/outcome.ts';
import { buildPlan } from '../../../src/migrations/plan/build-plan.ts';
import { explainRejects } from '../../../src/migrations/plan/explain-rejects.ts';
import { planInput, sampled, targetEvent } from './plan-input.ts';

const bad = sampled(rejected('bad_timestamp', 'when is "31/01/2024"'));
const good = sampled(mapped([targetEvent('Signed up')]));
const repeat = <T>(one: T, count: number): T[] => Array.from({ length: count }, () => one);
/** A hundredth of the file was read. */
const planOf = (accepted: number, refused: number) =>
  buildPlan(
    planInput({
      sample: [
        {
          file: 'one.json.gz',
          bytesRead: 10,
          recordsRead: accepted + refused,
          complete: false,
          records: [...repeat(good, accepted), ...repeat(bad, refused)],
        },
      ],
    }),
  );
const vendor = (failAbove: number | string) => ({ failAbove, isDeclared: false });

test('says nothing up to the limit', () => {
  expect(explainRejects(planOf(99, 1), vendor('1%'))).toBeUndefined();
  expect(explainRejects(planOf(0, 0), vendor(0))).toBeUndefined();
  expect(explainRejects(planOf(100, 0), vendor(0))).toBeUndefined();
});

test('names the share, the first example and the likely cause above it', () => {
  expect(explainRejects(planOf(98, 2), vendor('1%'))).toBe(
    [
      '2 of 100 sampled records (2%) are rejected; above 1% (rejects.failAbove) a run ends with exit code 3.',
      'Most frequent: bad_timestamp, for example in one.json.gz: when is "31/01/2024"',
      'Likely cause: the files are another export than source.type says. Compare a line of a file with the fields that the plan lists as read.',
    ].join('\n'),
  );
});

test('judges a number by the estimate of all records', () => {
  expect(explainRejects(planOf(99, 1), vendor(100))).toBeUndefined();
  expect(explainRejects(planOf(99, 1), vendor(99))).toMatch(/^1 of 100 sampled records \(1%\)/);
});

test('a sample that is rejected in full is too much, whatever the manifest allows', () => {
  expect(explainRejects(planOf(0, 7), vendor('100%'))).toMatch(/^All 7 sampled records are rejected/);
});

test('names the setting of a declared mapping', () => {
  expect(explainRejects(planOf(0, 7), { failAbove: '1%', isDeclared: true })).toContain(
    'Likely cause: the times are written in another form than mapping.timestamp.format says.',
  );
});

test('judges by all records where they were read', () => {
  const all = (rejectedCount: number) => ({
    counts: { read: 1_000, rejected: rejectedCount },
    byReason: { session_marker: 500, no_identity: 3, bad_timestamp: rejectedCount - 3 },
  });
  expect(explainRejects(planOf(0, 7), vendor('1%'), all(10))).toBeUndefined();
  expect(explainRejects(planOf(100, 0), vendor('1%'), all(11))).toBe(
    [
      '11 of 1,000 records (1.1%) are rejected; above 1% (rejects.failAbove) a run ends with exit code 3.',
      'Most frequent: bad_timestamp',
      'Likely cause: the files are another export than source.type says. Compare a line of a file with the fields that the plan lists as read.',
    ].join('\n'),
  );
});
