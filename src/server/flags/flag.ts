import type { FilterGroup } from '../query/filter.ts';

/** A feature flag as decisions need it, read from its stored form (parse-flag.ts). */
export interface Flag {
  readonly id: number;
  readonly key: string;
  /** Counts changes. */
  readonly version: number;
  /** Whether a person keeps the value that it got before it was identified. */
  readonly keepsValue: boolean;
  /** The type of group that it is decided for; null for persons. */
  readonly groupTypeIndex: number | null;
  /** The first that matches decides. Those with a variant of their own are asked first. */
  readonly conditions: readonly Condition[];
  /** Empty: the flag is on or off. */
  readonly variants: readonly Variant[];
  /** By the key of a variant, or `true`. */
  readonly payloads: ReadonlyMap<string, string>;
  /** Decides alone about everybody who took part in early access or left it. */
  readonly superCondition: Condition | undefined;
  readonly holdout: Holdout | undefined;
}

/** Everything holds. */
export interface Condition {
  readonly filter: FilterGroup;
  readonly dependencies: readonly Dependency[];
  /** 0 to 100. */
  readonly rolloutPercentage: number;
  /** What everybody gets whom it matches; undefined: the share of the variants decides. */
  readonly variant: string | undefined;
}

/** Another flag has a value. */
export interface Dependency {
  /** Id or key of the other flag (indexByName). */
  readonly flag: string;
  /** true: on, whichever the variant. */
  readonly value: boolean | string;
}

export interface Variant {
  readonly key: string;
  readonly name: string;
  /** 0 to 100; those of a flag add up to 100. */
  readonly rolloutPercentage: number;
}

/** A share that is kept out of an experiment. */
export interface Holdout {
  readonly percentage: number;
  /** The value of the flag for those who are kept out: `holdout-<id>`. */
  readonly variant: string;
}

/** The enrolment in early access that the property of a person says. */
export const toEnrolmentKey = (flagKey: string): string => `$feature_enrollment/${flagKey}`;

/**
 * Flags by what dependencies name them by: the id, or the key where no flag has that id. A key may be digits, and
 * none of them takes over what others have written by id.
 */
export const indexByName = <F extends { readonly id: number; readonly key: string }>(
  flags: readonly F[],
): Map<string, F> =>
  new Map([
    ...flags.map((flag) => [flag.key, flag] as const),
    ...flags.map((flag) => [String(flag.id), flag] as const),
  ]);
