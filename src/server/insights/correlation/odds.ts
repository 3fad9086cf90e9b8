/** Persons by what they did or are; of null all of them. */
export interface CorrelationRow {
  readonly label: readonly string[] | null;
  readonly success: number;
  readonly failure: number;
}

/** Persons of a funnel: how many converted and how many did not, with something and in all. */
export interface Contingency {
  readonly success: number;
  readonly failure: number;
  readonly successTotal: number;
  readonly failureTotal: number;
}

export interface Odds {
  /** Above 1: who has it converts more often. One person more in each of the four groups keeps it finite. */
  readonly ratio: number;
  /** In which the ratio is with a probability of 95%. */
  readonly interval: readonly [low: number, high: number];
  /** 1 is outside of the interval. */
  readonly isSignificant: boolean;
  readonly direction: 'success' | 'failure';
}

/** Of a normal distribution, the share within is 95%. */
const STANDARD_ERRORS = 1.96;

/** The odds ratio of converting, and Woolf's interval of it. */
export function computeOdds({ success, failure, successTotal, failureTotal }: Contingency): Odds {
  const counts = [success, failure, successTotal - success, failureTotal - failure].map((count) => count + 1);
  const [a = 1, b = 1, c = 1, d = 1] = counts;
  const ratio = (a * d) / (b * c);
  const error = Math.sqrt(counts.reduce((sum, count) => sum + 1 / count, 0));
  const factor = Math.exp(STANDARD_ERRORS * error);
  const [low, high] = [ratio / factor, ratio * factor];
  const isSignificant = low > 1 || high < 1;
  return { ratio, interval: [low, high], isSignificant, direction: ratio > 1 ? 'success' : 'failure' };
}

/** So many persons, or so large a share of all, must have something for a ratio to mean anything. */
export const LEAST_PERSONS = 25;
export const LEAST_SHARE = 0.02;

export const isRare = ({ success, failure, successTotal, failureTotal }: Contingency): boolean =>
  success + failure < Math.min(LEAST_PERSONS, LEAST_SHARE * (successTotal + failureTotal));

/** One of the two groups is more than ten times the other: ratios say little. */
export const isSkewed = (successTotal: number, failureTotal: number): boolean =>
  Math.min(successTotal, failureTotal) * 10 < Math.max(successTotal, failureTotal);
