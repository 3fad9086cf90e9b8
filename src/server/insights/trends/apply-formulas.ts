import { evaluateFormula } from './formula.ts';
import { describeValue, type NamedFormula, type TrendSeries } from './model.ts';

/**
 * Lines of formulas instead of those of series: one for each formula and value of the breakdown. `bySeries`
 * has the lines of each series, all of one period; a value that a series does not have counts as 0.
 */
export function applyFormulas(
  formulas: readonly NamedFormula[],
  bySeries: readonly (readonly TrendSeries[])[],
): TrendSeries[] {
  const values = [...new Set(bySeries.flat().map(({ breakdown_value: value }) => value))];
  return formulas.flatMap((named) =>
    values.map((value) => ({ ...applyFormula(named, bySeries, value), label: toLabel(named.name, value) })),
  );

  function toLabel(name: string, value: string | number | undefined): string {
    if (value === undefined) return name;
    return formulas.length > 1 ? `${name} - ${describeValue(value)}` : describeValue(value);
  }
}

function applyFormula(
  { formula, name }: NamedFormula,
  bySeries: readonly (readonly TrendSeries[])[],
  value: string | number | undefined,
): TrendSeries {
  const lines = bySeries.map((series) => series.find(({ breakdown_value: own }) => own === value));
  const [model] = lines.filter((line) => line !== undefined);
  const { days = [], labels = [], aggregated_value: aggregated } = model ?? {};
  const data = days.map((_, index) =>
    evaluateFormula(
      formula,
      lines.map((line) => line?.data[index] ?? 0),
    ),
  );
  const total =
    aggregated === undefined
      ? data.reduce((sum, one) => sum + one, 0)
      : evaluateFormula(
          formula,
          lines.map((line) => line?.aggregated_value ?? 0),
        );
  return {
    action: null,
    label: name,
    count: total,
    data,
    labels,
    days,
    ...(aggregated === undefined ? {} : { aggregated_value: total }),
    ...(value === undefined ? {} : { breakdown_value: value }),
  };
}
