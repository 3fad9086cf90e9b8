/** An axis from a round number to a round number that takes in all values and zero. */
export interface Scale {
  readonly low: number;
  readonly high: number;
  /** From high to low, evenly. */
  readonly ticks: readonly number[];
}

/** Few lines are enough to read a chart by. */
const MAX_STEPS = 3;

export function createScale(values: readonly number[]): Scale {
  const least = values.reduce((low, value) => Math.min(low, value), 0);
  const highest = values.reduce((high, value) => Math.max(high, value), 0);
  // Nothing but zeros, and still an axis.
  const most = highest === least ? 1 : highest;
  const rough = roundStep((most - least) / MAX_STEPS);
  // Between counts there is nothing.
  const step = values.every(Number.isInteger) ? Math.max(1, rough) : rough;
  const first = Math.ceil(most / step - 1e-9);
  const last = Math.floor(least / step + 1e-9);
  const ticks = Array.from({ length: first - last + 1 }, (_, index) => tidy((first - index) * step));
  return { low: ticks.at(-1) ?? 0, high: ticks[0] ?? 1, ticks };
}

/** The least of 1, 2 and 5 times a power of ten that is no less. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Without the crumbs of binary fractions. */
const tidy = (value: number): number => Number(value.toPrecision(12));

/** Vertical position of a value, from the top (0) to the bottom (`height`). */
export const locate = ({ low, high }: Scale, value: number, height: number): number =>
  Math.round(((high - value) / (high - low)) * height * 100) / 100;
