import type { Filter, PropertyFilter } from '../../query/filter.ts';
import type { CompiledCondition, Part } from './compile-condition.ts';
import type { CompiledFlag, CompiledFlags } from './compile-flags.ts';
import { createDecide, type Decision, type HasValue, matchCondition, type Outcome } from './decide.ts';
import type { Facts, Subject } from './facts.ts';
import { hashForRollout, hashForVariant } from './hash.ts';

/** Why somebody gets what they get: a decision, and every condition that it rests on. */
export interface Explanation {
  readonly key: string;
  /** Undefined where the flag cannot be decided; `failed` says why. */
  readonly decision: Decision | undefined;
  readonly failed: string | undefined;
  /** What was hashed: a distinct id, the id from before it was identified, or the key of a group. */
  readonly identifier: string | undefined;
  /** What decides before them about everybody who took part in early access or left it; undefined: nothing. */
  readonly earlyAccess: ExplainedCondition | undefined;
  /** In the order in which they are asked. Those after one that matched are not asked. */
  readonly conditions: readonly ExplainedCondition[];
  /** Where the identifier falls among the variants, between 0 and 1; undefined without variants. */
  readonly variantAt: number | undefined;
}

export interface ExplainedCondition {
  /** As it was written, from 0. */
  readonly index: number;
  readonly outcome: 'match' | 'no_match' | 'out_of_rollout' | 'failed' | 'not_asked';
  readonly parts: readonly ExplainedPart[];
  /** Between 0 and 1: in where `at` is at most `rollout`. */
  readonly at: number;
  readonly rollout: number;
  readonly variant: string | undefined;
}

export interface ExplainedPart {
  readonly asks: string;
  readonly passes: boolean;
  /** The value that was looked at, where the part asks for one property. */
  readonly value?: unknown;
  /** Where that value is from. */
  readonly from?: 'request' | 'stored' | 'nowhere';
  /** Where the part asks for one cohort. */
  readonly cohort?: { readonly id: number; readonly isMember: boolean };
}

/** Undefined where the project has no such active flag. */
export function explainFlag(flags: CompiledFlags, key: string, facts: Facts): Explanation | undefined {
  const broken = flags.broken.get(key);
  if (broken !== undefined) return { ...NOT_DECIDED, key, failed: broken };
  const flag = flags.byKey.get(key);
  if (flag === undefined) return undefined;
  const { decide, hasValue, findSubject } = createDecide(flags, facts);
  const result = decide(flag);
  const [decision, failed] = typeof result === 'string' ? [undefined, result] : [result, undefined];
  const subject = findSubject(flag);
  if (typeof subject !== 'object') return { ...NOT_DECIDED, key, decision, failed };
  return {
    key,
    decision,
    failed,
    identifier: subject.identifier,
    earlyAccess: explainEarlyAccess(flag, subject, decision),
    conditions: explainConditions(flag, subject, hasValue, decision),
    variantAt: flag.variants.length === 0 ? undefined : hashForVariant(key, subject.identifier),
  };
}

const NOT_DECIDED = {
  decision: undefined,
  failed: undefined,
  identifier: undefined,
  earlyAccess: undefined,
  conditions: [],
  variantAt: undefined,
} as const;

function explainEarlyAccess(
  flag: CompiledFlag,
  subject: Subject,
  decision: Decision | undefined,
): ExplainedCondition | undefined {
  const { superCondition } = flag;
  if (superCondition === undefined) return undefined;
  const hasValue = () => false;
  const outcome =
    decision?.reason === 'super_condition_value'
      ? nameOutcome(matchCondition(flag, superCondition, subject, hasValue))
      : 'not_asked';
  return explainCondition(flag, superCondition, subject, hasValue, outcome);
}

function explainConditions(
  flag: CompiledFlag,
  subject: Subject,
  hasValue: HasValue,
  decision: Decision | undefined,
): ExplainedCondition[] {
  let isOver = decision?.reason === 'super_condition_value' || decision?.reason === 'holdout_condition_value';
  return flag.conditions.map((condition) => {
    const outcome = isOver ? 'not_asked' : nameOutcome(matchCondition(flag, condition, subject, hasValue));
    isOver ||= outcome === 'match' || outcome === 'failed';
    return explainCondition(flag, condition, subject, hasValue, outcome);
  });
}

const nameOutcome = (outcome: Outcome): ExplainedCondition['outcome'] =>
  typeof outcome === 'object' ? 'failed' : outcome;

function explainCondition(
  flag: CompiledFlag,
  condition: CompiledCondition,
  subject: Subject,
  hasValue: HasValue,
  outcome: ExplainedCondition['outcome'],
): ExplainedCondition {
  const dependencies = condition.dependencies.map((dependency) => ({
    asks: `the flag ${dependency.flag} is ${describeValue(dependency.value)}`,
    passes: hasValue(dependency) === true,
  }));
  return {
    index: condition.index,
    outcome,
    parts: [...dependencies, ...condition.parts.map((part) => explainPart(part, subject))],
    at: hashForRollout(flag.key, subject.identifier),
    rollout: condition.rollout,
    variant: condition.variant,
  };
}

function explainPart({ filter, match }: Part, subject: Subject): ExplainedPart {
  const asked = { asks: describeFilter(filter), passes: match(subject) };
  if (filter.kind === 'property') return { ...asked, ...findValue(filter, subject) };
  if (filter.kind !== 'cohort') return asked;
  return { ...asked, cohort: { id: filter.cohortId, isMember: asked.passes !== filter.negated } };
}

function findValue(
  { key }: PropertyFilter,
  { given, stored }: Subject,
): Pick<ExplainedPart, 'value' | 'from'> {
  if (Object.hasOwn(given, key)) return { value: given[key], from: 'request' };
  if (stored.kind === 'found' && Object.hasOwn(stored.properties, key)) {
    return { value: stored.properties[key], from: 'stored' };
  }
  return { from: 'nowhere' };
}

const describeValue = (value: boolean | string): string =>
  typeof value === 'string' ? value : value ? 'on' : 'off';

/** `plan exact pro`, `in cohort 7`, `not (…)`. */
function describeFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'property': {
      const values = filter.values.map(String).join(' or ');
      const text = `${filter.key} ${filter.operator}${values === '' ? '' : ` ${values}`}`;
      return filter.negated ? `not (${text})` : text;
    }
    case 'cohort':
      return `${filter.negated ? 'not in' : 'in'} cohort ${filter.cohortId}`;
    case 'behaviour':
      return 'event' in filter.did ? `did ${filter.did.event}` : `did action ${filter.did.actionId}`;
    case 'group':
      return filter.members.map((member) => `(${describeFilter(member)})`).join(` ${filter.operator} `);
  }
}
