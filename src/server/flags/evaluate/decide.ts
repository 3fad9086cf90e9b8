import { toEnrolmentKey } from '../flag.ts';
import type { CompiledCondition } from './compile-condition.ts';
import type { CompiledFlag, CompiledFlags } from './compile-flags.ts';
import type { Facts, Subject } from './facts.ts';
import { hashForHoldout, hashForRollout, hashForVariant } from './hash.ts';

/** Why a flag has its value, in the words of the service. */
export type Reason =
  | 'super_condition_value'
  | 'holdout_condition_value'
  | 'condition_match'
  | 'out_of_rollout_bound'
  | 'no_condition_match'
  | 'no_group_type';

/** What somebody gets. */
export interface Decision {
  /** Off, on, or the key of a variant. */
  readonly value: boolean | string;
  readonly reason: Reason;
  /** The condition that matched, or came closest, as it was written. */
  readonly conditionIndex: number | undefined;
  /** JSON text, as a rule. */
  readonly payload: string | undefined;
}

export interface Decisions {
  readonly decided: ReadonlyMap<string, Decision>;
  /** Flags that could not be decided, and why. */
  readonly failed: ReadonlyMap<string, string>;
}

/** `only`: keys of the flags that are asked for; the flags that these depend on are decided as well, and left out. */
export function decideFlags(flags: CompiledFlags, facts: Facts, only?: ReadonlySet<string>): Decisions {
  const { decide } = createDecide(flags, facts);
  const decided = new Map<string, Decision>();
  const failed = new Map<string, string>();
  for (const flag of flags.flags) {
    if (only !== undefined && !only.has(flag.key)) continue;
    const result = decide(flag);
    if (typeof result === 'string') failed.set(flag.key, result);
    else decided.set(flag.key, result);
  }
  for (const [key, why] of flags.broken) if (only === undefined || only.has(key)) failed.set(key, why);
  return { decided, failed };
}

/** A decision, or why there is none. */
type Result = Decision | string;

interface Walk {
  readonly decide: (flag: CompiledFlag) => Result;
  readonly hasValue: HasValue;
  readonly findSubject: (flag: CompiledFlag) => ReturnType<typeof findSubject>;
}

const CYCLE = 'It depends on itself.';
const NO_STORE = 'The database is away, and the flag depends on what is stored there.';

/** Each flag is decided once, the flags that it depends on before it. */
export function createDecide(flags: CompiledFlags, facts: Facts): Walk {
  const results = new Map<CompiledFlag, Result>();

  function decide(flag: CompiledFlag): Result {
    const known = results.get(flag);
    if (known !== undefined) return known;
    results.set(flag, CYCLE);
    const result = decideFlag(flag, facts, hasValue);
    results.set(flag, result);
    return result;
  }

  const hasValue: HasValue = ({ flag: name, value }) => {
    const flag = flags.byName.get(name);
    if (flag === undefined) return `It depends on the flag "${name}", which does not exist or is not active.`;
    const result = decide(flag);
    if (typeof result === 'string') return `It depends on the flag "${flag.key}": ${result}`;
    return typeof value === 'string' ? result.value === value : (result.value !== false) === value;
  };

  return { decide, hasValue, findSubject: (flag) => findSubject(flag, facts) };
}

/** Whether another flag has a value, or why that is not known. */
export type HasValue = (dependency: CompiledCondition['dependencies'][number]) => boolean | string;

function decideFlag(flag: CompiledFlag, facts: Facts, hasValue: HasValue): Result {
  const subject = findSubject(flag, facts);
  if (subject === undefined) return off('no_group_type', undefined);
  if (typeof subject === 'string') return subject;

  const enrolled = flag.superCondition && decideEnrolment(flag, flag.superCondition, subject);
  if (enrolled !== undefined) return enrolled;

  const { holdout } = flag;
  if (holdout !== undefined && hashForHoldout(subject.identifier) <= holdout.percentage / 100) {
    return on(flag, holdout.variant, 'holdout_condition_value', undefined);
  }

  let outOfRollout: CompiledCondition | undefined;
  for (const condition of flag.conditions) {
    const outcome = matchCondition(flag, condition, subject, hasValue);
    if (outcome === 'out_of_rollout') outOfRollout = condition;
    else if (outcome === 'match') {
      const value = chooseVariant(flag, condition, subject.identifier);
      return on(flag, value, 'condition_match', condition.index);
    } else if (outcome !== 'no_match') return outcome.failed;
  }
  // As the service reports it: of several conditions that came equally close, the last one.
  if (outOfRollout !== undefined) return off('out_of_rollout_bound', outOfRollout.index);
  return off('no_condition_match', flag.conditions.at(-1)?.index);
}

const off = (reason: Reason, conditionIndex: number | undefined): Decision => ({
  value: false,
  reason,
  conditionIndex,
  payload: undefined,
});

function on(
  { payloads }: CompiledFlag,
  value: true | string,
  reason: Reason,
  conditionIndex: number | undefined,
): Decision {
  return { value, reason, conditionIndex, payload: payloads.get(String(value)) || undefined };
}

/** Undefined: the request names no group of that type. A text: why the subject is not known. */
function findSubject(flag: CompiledFlag, facts: Facts): Subject | string | undefined {
  if (flag.groupTypeIndex !== null) return facts.groups.get(flag.groupTypeIndex);
  if (!flag.keepsValue) return facts.person;
  if (facts.hashKeys === 'unavailable') return NO_STORE;
  const hashKey = facts.hashKeys.get(flag.key);
  return hashKey === undefined ? facts.person : { ...facts.person, identifier: hashKey };
}

/** Undefined for those who never took part in early access, nor left it. */
function decideEnrolment(
  flag: CompiledFlag,
  condition: CompiledCondition,
  subject: Subject,
): Result | undefined {
  if (condition.parts.length > 0) {
    const key = toEnrolmentKey(flag.key);
    if (!Object.hasOwn(subject.given, key)) {
      if (subject.stored.kind === 'unavailable') return NO_STORE;
      if (subject.stored.kind === 'none' || !Object.hasOwn(subject.stored.properties, key)) return undefined;
    }
  }
  const outcome = matchCondition(flag, condition, subject, () => false);
  if (typeof outcome === 'object') return outcome.failed;
  return outcome === 'match' ? on(flag, true, 'super_condition_value', 0) : off('super_condition_value', 0);
}

export type Outcome = 'match' | 'no_match' | 'out_of_rollout' | { readonly failed: string };

/** Everything holds, and the identifier falls within the rollout. */
export function matchCondition(
  flag: CompiledFlag,
  condition: CompiledCondition,
  subject: Subject,
  hasValue: HasValue,
): Outcome {
  for (const dependency of condition.dependencies) {
    const holds = hasValue(dependency);
    if (typeof holds === 'string') return { failed: holds };
    if (!holds) return 'no_match';
  }
  if (subject.stored.kind !== 'found' && needsStore(condition, subject)) {
    if (subject.stored.kind === 'unavailable') return { failed: NO_STORE };
    if (!condition.onlyDenies) return 'no_match';
  }
  for (const { match } of condition.parts) if (!match(subject)) return 'no_match';
  if (condition.rollout >= 1) return 'match';
  return hashForRollout(flag.key, subject.identifier) <= condition.rollout ? 'match' : 'out_of_rollout';
}

const needsStore = ({ keys, asksMembers }: CompiledCondition, { given }: Subject): boolean =>
  asksMembers || keys.some((key) => !Object.hasOwn(given, key));

function chooseVariant(flag: CompiledFlag, condition: CompiledCondition, identifier: string): true | string {
  const { variants } = flag;
  const { variant } = condition;
  if (variants.length === 0) return true;
  if (variant !== undefined && variants.some(({ key }) => key === variant)) return variant;
  const at = hashForVariant(flag.key, identifier);
  return variants.find(({ until }) => at < until)?.key ?? true;
}
