import { expect, test } from 'vitest';
import { renderExplanation } from '../../../src/cli/render/render-explanation.ts';

const condition = { outcome: 'match', rollout_at: 0.25, rollout: 1, variant: null } as const;

test('a flag is explained by its early access, conditions and cohorts', () => {
  const why = {
    key: 'early',
    value: true,
    payload: null,
    reason: 'Matched condition set 1',
    identifier: 'ada',
    variant_at: null,
    early_access: {
      ...condition,
      condition: 1,
      outcome: 'not_asked',
      properties: [
        { asks: '$feature_enrollment/early exact true', passes: false, from: 'nowhere', cohort: null },
      ],
    },
    conditions: [
      {
        ...condition,
        condition: 1,
        rollout: 0.5,
        properties: [
          {
            asks: 'in cohort 7',
            passes: true,
            from: null,
            cohort: { id: 7, name: 'Paying', is_member: true },
          },
          { asks: 'plan exact pro', passes: true, value: 'pro', from: 'request', cohort: null },
        ],
      },
      { ...condition, condition: 2, outcome: 'not_asked', properties: [] },
    ],
  } as const;
  expect(renderExplanation(why).split('\n')).toEqual([
    'early: on (Matched condition set 1)',
    '  early access does not decide',
    '    no   $feature_enrollment/early exact true; it is not set',
    '  condition 1 matches',
    '    yes  in cohort 7 (Paying); is in it',
    '    yes  plan exact pro; it is "pro", as given',
    '    yes  share of 50%: lies at 25%',
    '  condition 2 is not asked',
  ]);
});
