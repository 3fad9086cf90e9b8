import type { Row } from '../figures.ts';
import { computeRatio, computeSpread, type Spread } from '../spread.ts';
import type { Run } from './contenders.ts';

export const toSpread = (values: readonly number[]): Spread | undefined =>
  values.length === 0 ? undefined : computeSpread(values);

/** How many times cheaper than the base, round by round; nothing where one of them has no valid figures. */
export const compare = (base: readonly number[], values: readonly number[]): Spread | undefined =>
  base.length === 0 || values.length !== base.length ? undefined : computeRatio(base, values);

/** CPU time in µs per record of the input, of the runs that came to their end. */
export const toMicros = (runs: readonly Run[]): number[] =>
  runs.filter(({ records }) => records > 0).map(({ cpuMs, records }) => (cpuMs * 1000) / records);

export const toPeaks = (runs: readonly Run[]): number[] => runs.flatMap(({ peakMb }) => peakMb ?? []);

export const toRates = (runs: readonly Run[]): number[] =>
  runs.filter(({ records }) => records > 0).map(({ records, wallMs }) => (records * 1000) / wallMs);

export const dropUndefined = (cells: Row['cells']): Row['cells'] =>
  Object.fromEntries(Object.entries(cells).filter(([, value]) => value !== undefined));
