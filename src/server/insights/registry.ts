import { funnel } from './funnel/index.ts';
import type { InsightKind } from './insight-kind.ts';
import { lifecycle } from './lifecycle/index.ts';
import { paths } from './paths/index.ts';
import { retention } from './retention/index.ts';
import { stickiness } from './stickiness/index.ts';
import { trends } from './trends/index.ts';

/** Every kind of insight, by its name in filters. The only list: all else derives from it. */
const KINDS = {
  TRENDS: trends,
  FUNNELS: funnel,
  RETENTION: retention,
  LIFECYCLE: lifecycle,
  STICKINESS: stickiness,
  PATHS: paths,
} as const;

export type InsightName = keyof typeof KINDS;
type Queries = {
  readonly [K in InsightName]: (typeof KINDS)[K] extends InsightKind<K, infer Q, infer _> ? Q : never;
};
type Results = {
  readonly [K in InsightName]: (typeof KINDS)[K] extends InsightKind<K, infer _, infer D> ? D : never;
};

/** What an insight asks for, read from the filters that clients write. */
export type InsightQuery = Queries[InsightName];

/**
 * The result of an insight. Times of intervals come twice: `days` for programs (`2024-01-31`, hourly
 * `2024-01-31 08:00:00`), `labels` for display (`31-Jan-2024`, hourly `31-Jan-2024 08:00`).
 */
export type InsightData = Results[InsightName];

const TABLE: { readonly [K in InsightName]: InsightKind<K, Queries[K], Results[K]> } = KINDS;

export const getKind = <K extends InsightName>(name: K): InsightKind<K, Queries[K], Results[K]> =>
  TABLE[name];

export const isInsightName = (name: string): name is InsightName => Object.hasOwn(KINDS, name);

/** The kind of a newer query object, such as `TrendsQuery`. */
export const findKindOfSource = (sourceKind: string) =>
  Object.values(KINDS).find(({ source }) => source.kind === sourceKind);
