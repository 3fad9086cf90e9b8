import { expect, it } from 'vitest';
import { mapped } from '../../../src/contract/outcome.ts';
import { buildPlan } from '../../../src/migrations/plan/build-plan.ts';
import { makeChecklist } from '../../../src/migrations/plan/checklist.ts';
import { findSharedIds } from '../../../src/migrations/plan/find-shared-ids.ts';
import { planInput, sampled, targetEvent } from './plan-input.ts';

const completed = targetEvent('Order Completed');

it('true repeats share an id rightly, in whatever order their properties come', () => {
  const repeat = targetEvent('Order Completed', { properties: { plan: 'pro', distinct_id: 'ada' } });
  expect(findSharedIds([completed, repeat])).toBeUndefined();
  expect(findSharedIds([])).toBeUndefined();
});

it.each([
  ['name', targetEvent('Order Refunded'), 'Order Completed, Order Refunded'],
  ['time', targetEvent('Order Completed', { timestamp: '2023-05-01T12:00:00.001Z' }), 'Order Completed'],
  ['property', targetEvent('Order Completed', { properties: { distinct_id: 'ada' } }), 'Order Completed'],
])('an id of two events with another %s is told', (_, other, names) => {
  const told = findSharedIds([completed, other, completed]);
  expect(told).toContain(`1 id of the sample, such as ${completed.uuid} (2 contents: ${names})`);
  expect(told).toContain('same_id_other_content');
});

it('a plan warns of shared ids and of names that match nothing', () => {
  const records = [completed, targetEvent('Order Refunded')].map((event) => sampled(mapped([event])));
  const sample = [{ file: 'one.json.gz', bytesRead: 1_000, recordsRead: 2, complete: true, records }];
  const plan = buildPlan(planInput({ sample, unmatched: ['mapping.exclude names "x"'] }));
  expect(plan.warnings).toEqual([expect.stringContaining('share an id'), 'mapping.exclude names "x"']);
  for (const text of plan.warnings) expect(makeChecklist(plan)).toContainEqual({ state: 'warning', text });
});
