import { describeReason } from './decide/response.ts';
import type { ExplainedCondition, Explanation } from './evaluate/explain.ts';
import type { ExplanationBody } from './schema.ts';

/** `cohortNames`: by id, of the cohorts that the explanation names (listCohorts). */
export const renderExplanation = (
  { key, decision, failed, identifier, variantAt, earlyAccess, conditions }: Explanation,
  cohortNames: ReadonlyMap<number, string | null>,
): ExplanationBody => ({
  key,
  value: decision?.value ?? null,
  payload: decision?.payload ?? null,
  reason: decision === undefined ? (failed ?? '') : describeReason(decision.reason, decision.conditionIndex),
  identifier: identifier ?? null,
  variant_at: variantAt ?? null,
  early_access: earlyAccess === undefined ? null : renderCondition(earlyAccess, cohortNames),
  conditions: conditions.map((condition) => renderCondition(condition, cohortNames)),
});

const renderCondition = (
  { index, outcome, at, rollout, variant, parts }: ExplainedCondition,
  cohortNames: ReadonlyMap<number, string | null>,
): ExplanationBody['conditions'][number] => ({
  condition: index + 1,
  outcome,
  rollout_at: at,
  rollout,
  variant: variant ?? null,
  properties: parts.map(({ asks, passes, value, from, cohort }) => ({
    asks,
    passes,
    value,
    from: from ?? null,
    cohort:
      cohort === undefined
        ? null
        : { id: cohort.id, name: cohortNames.get(cohort.id) ?? null, is_member: cohort.isMember },
  })),
});

/** Ids of the cohorts that are asked for. */
export const listCohorts = ({ earlyAccess, conditions }: Explanation): number[] =>
  [...(earlyAccess ? [earlyAccess] : []), ...conditions].flatMap(({ parts }) =>
    parts.flatMap(({ cohort }) => (cohort === undefined ? [] : [cohort.id])),
  );
