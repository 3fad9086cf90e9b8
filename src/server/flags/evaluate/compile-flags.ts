import type { CohortDefinitions } from '../../query/definitions/cohort-definition.ts';
import { UnmatchableError } from '../../query/match/filter.ts';
import { type Flag, type Holdout, indexByName, type Variant } from '../flag.ts';
import { type CompiledCondition, compileCondition } from './compile-condition.ts';

/** A flag, ready to be decided for anybody. */
export interface CompiledFlag {
  readonly id: number;
  readonly key: string;
  /** The key as a member of a JSON object: `"key":`. */
  readonly member: string;
  readonly version: number;
  readonly keepsValue: boolean;
  readonly groupTypeIndex: number | null;
  /** In the order in which they are asked: those with a variant of their own first. */
  readonly conditions: readonly CompiledCondition[];
  readonly variants: readonly Share[];
  readonly payloads: ReadonlyMap<string, string>;
  readonly superCondition: CompiledCondition | undefined;
  readonly holdout: Holdout | undefined;
}

/** A variant, and the end of its range between 0 and 1: it begins where the one before ends. */
export interface Share {
  readonly key: string;
  readonly until: number;
}

/** Of one project, in the order in which flags are shown. */
export interface CompiledFlags {
  readonly flags: readonly CompiledFlag[];
  /** Flags that nobody can be asked about, by key, and why. They count as errors of a decision. */
  readonly broken: ReadonlyMap<string, string>;
  readonly byKey: ReadonlyMap<string, CompiledFlag>;
  /** As dependencies name them (indexByName). */
  readonly byName: ReadonlyMap<string, CompiledFlag>;
  /** Whether any decision needs what was stored of a person. */
  readonly keepValues: boolean;
  /** Whether the time of a decision may change it. */
  readonly asksTime: boolean;
}

export function compileFlags(flags: readonly Flag[], cohorts: CohortDefinitions): CompiledFlags {
  const compiled: CompiledFlag[] = [];
  const broken = new Map<string, string>();
  for (const flag of flags) {
    try {
      compiled.push(compileFlag(flag, cohorts));
    } catch (error) {
      if (!(error instanceof UnmatchableError)) throw error;
      broken.set(flag.key, error.message);
    }
  }
  const byKey = new Map(compiled.map((flag) => [flag.key, flag]));
  const byName = indexByName(compiled);
  const conditions = compiled.flatMap((flag) => [
    ...flag.conditions,
    ...(flag.superCondition ? [flag.superCondition] : []),
  ]);
  return {
    flags: compiled,
    broken,
    byKey,
    byName,
    keepValues: compiled.some((flag) => flag.keepsValue),
    asksTime: conditions.some((condition) => condition.asksTime),
  };
}

function compileFlag(flag: Flag, cohorts: CohortDefinitions): CompiledFlag {
  const { id, key, version, keepsValue, groupTypeIndex, payloads, holdout } = flag;
  const conditions = flag.conditions.map((condition, index) => compileCondition(condition, index, cohorts));
  return {
    id,
    key,
    member: `${JSON.stringify(key)}:`,
    version,
    keepsValue,
    groupTypeIndex,
    conditions: conditions.toSorted(
      (a, b) => Number(a.variant === undefined) - Number(b.variant === undefined),
    ),
    variants: toShares(flag.variants),
    payloads,
    superCondition: flag.superCondition && compileCondition(flag.superCondition, 0, cohorts),
    holdout,
  };
}

/** Added up as clients do it: another order of the operations would move the bounds by a rounding error. */
function toShares(variants: readonly Variant[]): Share[] {
  let sum = 0;
  return variants.map(({ key, rolloutPercentage }) => {
    sum += rolloutPercentage / 100;
    return { key, until: sum };
  });
}
