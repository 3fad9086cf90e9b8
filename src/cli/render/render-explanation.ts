import { printable } from './text-table.ts';

/** The answer of the API to a test of a flag. */
export interface Explanation {
  readonly key: string;
  readonly value: boolean | string | null;
  readonly payload: string | null;
  readonly reason: string;
  readonly identifier: string | null;
  readonly variant_at: number | null;
  readonly early_access: ExplainedCondition | null;
  readonly conditions: readonly ExplainedCondition[];
}

interface ExplainedCondition {
  readonly condition: number;
  readonly outcome: 'match' | 'no_match' | 'out_of_rollout' | 'failed' | 'not_asked';
  readonly rollout_at: number;
  readonly rollout: number;
  readonly variant: string | null;
  readonly properties: readonly ExplainedProperty[];
}

interface ExplainedProperty {
  readonly asks: string;
  readonly passes: boolean;
  readonly value?: unknown;
  readonly from: 'request' | 'stored' | 'nowhere' | null;
  readonly cohort: { readonly id: number; readonly name: string | null; readonly is_member: boolean } | null;
}

const OUTCOMES = {
  match: 'matches',
  no_match: 'does not match',
  out_of_rollout: 'matches, but lies outside of the share',
  failed: 'cannot be decided',
  not_asked: 'is not asked',
} as const;

/** Condition by condition, why somebody gets what they get. */
export function renderExplanation(why: Explanation): string {
  const { key, value, reason, payload, early_access: earlyAccess, conditions, variant_at: variantAt } = why;
  const shown = value === null ? 'not decided' : value === true ? 'on' : value === false ? 'off' : value;
  const lines = [`${key}: ${shown} (${reason})`];
  if (payload !== null) lines.push(`  payload ${payload}`);
  if (earlyAccess !== null) {
    const { outcome } = earlyAccess;
    lines.push(`  early access ${outcome === 'not_asked' ? 'does not decide' : OUTCOMES[outcome]}`);
    lines.push(...describeCondition(earlyAccess));
  }
  for (const condition of conditions) {
    lines.push(`  condition ${condition.condition} ${OUTCOMES[condition.outcome]}`);
    if (condition.outcome !== 'not_asked') lines.push(...describeCondition(condition));
  }
  if (variantAt !== null) lines.push(`  lies at ${percent(variantAt)} of the variants`);
  return lines.map(printable).join('\n');
}

function describeCondition({ properties, rollout, rollout_at: at }: ExplainedCondition): string[] {
  const lines = properties.map(
    (property) => `    ${property.passes ? 'yes' : 'no '}  ${property.asks}${describeFound(property)}`,
  );
  if (rollout < 1) {
    lines.push(`    ${at <= rollout ? 'yes' : 'no '}  share of ${percent(rollout)}: lies at ${percent(at)}`);
  }
  return lines;
}

function describeFound({ value, from, cohort }: ExplainedProperty): string {
  if (cohort !== null) {
    const name = cohort.name === null ? '' : ` (${cohort.name})`;
    return `${name}; ${cohort.is_member ? 'is in it' : 'is not in it'}`;
  }
  if (from === null) return '';
  if (from === 'nowhere') return '; it is not set';
  return `; it is ${JSON.stringify(value)}${from === 'request' ? ', as given' : ''}`;
}

const percent = (share: number): string => `${Math.round(share * 10_000) / 100}%`;
