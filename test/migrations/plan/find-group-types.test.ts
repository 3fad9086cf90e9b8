import { expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { mapped, rejected, skipped } from '../../../src/contract/outcome.ts';
import { buildPlan } from '../../../src/migrations/plan/build-plan.ts';
import { findGroupTypes } from '../../../src/migrations/plan/find-group-types.ts';
import { planInput, sampled, targetEvent } from './plan-input.ts';

const inGroups = (...types: readonly string[]) =>
  mapped([
    targetEvent('Opened', {
      properties: { distinct_id: 'ada', $groups: Object.fromEntries(types.map((type) => [type, 'acme'])) },
    }),
  ]);
const ofGroup = (groupType: string): IdentityFact => ({
  ...{ kind: 'group', groupType, groupKey: 'acme', time: '2023-05-01T12:00:00.000Z', set: {} },
});

it('a project has room for five types of groups', () => {
  const five = [
    inGroups('company', 'team'),
    inGroups('team', 'site'),
    skipped('feeds_groups', [ofGroup('plan')]),
  ];
  expect(findGroupTypes([...five, inGroups('city'), mapped([targetEvent('Opened')])])).toBeUndefined();
  expect(findGroupTypes([...five, rejected('bad_field', ''), inGroups('city', 'company')])).toBeUndefined();
});

it('a sixth is told, as the destination ignores it without a word', () => {
  const outcomes = [
    inGroups('company', 'team', 'site'),
    skipped('feeds_groups', [ofGroup('plan'), ofGroup('city')]),
    inGroups('country'),
  ];
  const told = findGroupTypes(outcomes);
  expect(told).toContain('6 types of groups are in the sample (city, company, country, plan, site, team)');
  expect(told).toContain('source.groupTypes');

  const records = outcomes.map((outcome) => sampled(outcome));
  const sample = [{ file: 'one.json.gz', bytesRead: 1_000, recordsRead: 3, complete: true, records }];
  expect(buildPlan(planInput({ sample })).warnings).toContain(told);
});
