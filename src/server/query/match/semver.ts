/** Versions of software (`1.2.3`). What follows the third number, such as `-beta.1`, does not count. */

/** `v1.2.3-beta`, `1.2`, ` 1 `; numbers of up to nine digits. */
export const SEMVER = '^\\s*v?(\\d{1,9})(?:\\.(\\d{1,9}))?(?:\\.(\\d{1,9}))?(?:[-+.].*)?\\s*$';
const PATTERN = new RegExp(SEMVER, 's');

/** Major, minor, patch. */
export type Version = readonly [number, number, number];

/** Missing numbers are 0; undefined for what is no version. */
export function parseVersion(text: string): Version | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  return [Number(match[1]), Number(match[2] ?? 0), Number(match[3] ?? 0)];
}

/** From the first on, and before the second; an end that is missing is open. */
export interface VersionRange {
  readonly from?: Version;
  readonly until?: Version;
}

export const SEMVER_TESTS = [
  'semver_eq',
  'semver_gt',
  'semver_gte',
  'semver_lt',
  'semver_lte',
  'semver_tilde',
  'semver_caret',
  'semver_wildcard',
] as const;

export type SemverTest = (typeof SEMVER_TESTS)[number];

export const isSemverTest = (test: string): test is SemverTest =>
  (SEMVER_TESTS as readonly string[]).includes(test);

/**
 * The versions that pass; undefined where `wanted` is none. `~1.2.3` keeps the minor number, `^1.2.3` the first
 * number that is not 0, `1.2.*` what stands before the star.
 * https://docs.npmjs.com/cli/v6/using-npm/semver
 */
export function toVersionRange(test: SemverTest, wanted: string): VersionRange | undefined {
  if (test === 'semver_wildcard') return readWildcard(wanted);
  const version = parseVersion(wanted);
  if (version === undefined) return undefined;
  const [major, minor, patch] = version;
  const next: Version = [major, minor, patch + 1];
  switch (test) {
    case 'semver_eq':
      return { from: version, until: next };
    case 'semver_gt':
      return { from: next };
    case 'semver_gte':
      return { from: version };
    case 'semver_lt':
      return { until: version };
    case 'semver_lte':
      return { until: next };
    case 'semver_tilde':
      return { from: version, until: [major, minor + 1, 0] };
    case 'semver_caret':
      if (major > 0) return { from: version, until: [major + 1, 0, 0] };
      return { from: version, until: minor > 0 ? [0, minor + 1, 0] : next };
  }
}

function readWildcard(wanted: string): VersionRange | undefined {
  const [, major, minor] = /^\s*v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.[*xX]){1,2}\s*$/.exec(wanted) ?? [];
  if (major === undefined) return undefined;
  if (minor === undefined) return { from: [Number(major), 0, 0], until: [Number(major) + 1, 0, 0] };
  return {
    from: [Number(major), Number(minor), 0],
    until: [Number(major), Number(minor) + 1, 0],
  };
}

export function isInRange(version: Version, { from, until }: VersionRange): boolean {
  return (
    (from === undefined || compare(version, from) >= 0) &&
    (until === undefined || compare(version, until) < 0)
  );
}

const compare = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
