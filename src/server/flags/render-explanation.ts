import { describeReason } from './decide/response.ts';
import type { Explanation } from './evaluate/explain.ts';
import type { ExplanationBody } from './schema.ts';

export const renderExplanation = ({
  key,
  decision,
  failed,
  identifier,
  variantAt,
  conditions,
}: Explanation): ExplanationBody => ({
  key,
  value: decision?.value ?? null,
  payload: decision?.payload ?? null,
  reason: decision === undefined ? (failed ?? '') : describeReason(decision.reason, decision.conditionIndex),
  identifier: identifier ?? null,
  variant_at: variantAt ?? null,
  conditions: conditions.map(({ index, outcome, at, rollout, variant, parts }) => ({
    condition: index + 1,
    outcome,
    rollout_at: at,
    rollout,
    variant: variant ?? null,
    properties: parts.map(({ asks, passes, value, from }) => ({ asks, passes, value, from: from ?? null })),
  })),
});
