import { printable } from './text-table.ts';

/** The answer of the API to a test of a flag. */
export interface Explanation {
  readonly key: string;
  readonly value: boolean | string | null;
  readonly payload: string | null;
  readonly reason: string;
  readonly identifier: string | null;
  readonly variant_at: number | null;
  readonly conditions: readonly {
    readonly condition: number;
    readonly outcome: 'match' | 'no_match' | 'out_of_rollout' | 'failed' | 'not_asked';
    readonly rollout_at: number;
    readonly rollout: number;
    readonly variant: string | null;
    readonly properties: readonly {
      readonly asks: string;
      readonly passes: boolean;
      readonly value?: unknown;
      readonly from: 'request' | 'stored' | 'nowhere' | null;
    }[];
  }[];
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
  const { key, value, reason, payload, conditions, variant_at: variantAt } = why;
  const shown = value === null ? 'not decided' : value === true ? 'on' : value === false ? 'off' : value;
  const lines = [`${key}: ${shown} (${reason})`];
  if (payload !== null) lines.push(`  payload ${payload}`);
  for (const { condition, outcome, properties, rollout, rollout_at: at } of conditions) {
    lines.push(`  condition ${condition} ${OUTCOMES[outcome]}`);
    if (outcome === 'not_asked') continue;
    for (const { asks, passes, value: found, from } of properties) {
      lines.push(`    ${passes ? 'yes' : 'no '}  ${asks}${describeFound(found, from)}`);
    }
    if (rollout < 1) {
      lines.push(
        `    ${at <= rollout ? 'yes' : 'no '}  share of ${percent(rollout)}: lies at ${percent(at)}`,
      );
    }
  }
  if (variantAt !== null) lines.push(`  lies at ${percent(variantAt)} of the variants`);
  return lines.map(printable).join('\n');
}

function describeFound(
  value: unknown,
  from: Explanation['conditions'][number]['properties'][number]['from'],
) {
  if (from === null) return '';
  if (from === 'nowhere') return '; it is not set';
  return `; it is ${JSON.stringify(value)}${from === 'request' ? ', as given' : ''}`;
}

const percent = (share: number): string => `${Math.round(share * 10_000) / 100}%`;
