import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import type { CommonQuery } from '../insight-kind.ts';
import { readSeries } from '../parse/entities.ts';
import {
  count,
  flag,
  given,
  parseList,
  readBreakdown,
  readFields,
  readInterval,
  words,
} from '../parse/fields.ts';
import { parseFormula } from './formula.ts';
import { DISPLAYS, type Display, type TrendsQuery } from './model.ts';

const MAX_FORMULAS = 10;

export const smoothingIntervals = count(1, 1000);

const trendFields = z.object({
  compare: flag,
  compare_to: given(words),
  formula: given(words),
  formulas: parseList(z.object({ formula: words, custom_name: given(words) }), MAX_FORMULAS),
  smoothing_intervals: smoothingIntervals,
});

export function parseTrends(filters: JsonObject, common: CommonQuery): TrendsQuery {
  const fields = readFields(trendFields, filters);
  if (fields.compare === true && fields.compare_to !== undefined) {
    throw unsupported('A comparison with another period than the one before is not supported.');
  }
  const series = readSeries(filters);
  const formulas = fields.formulas ?? (fields.formula === undefined ? [] : [{ formula: fields.formula }]);
  return {
    insight: 'TRENDS',
    ...common,
    series,
    formulas: formulas.map(({ formula, ...own }) => ({
      formula: parseFormula(formula, series.length),
      name: ('custom_name' in own && own.custom_name) || `Formula (${formula})`,
    })),
    interval: readInterval(filters),
    breakdown: readBreakdown(filters),
    display: readDisplay(filters),
    compare: fields.compare ?? false,
    smoothing: fields.smoothing_intervals ?? 1,
  };
}

/** An unknown display is no reason to refuse a trend: it is drawn as lines. */
export function readDisplay(filters: JsonObject): Display {
  const { display } = readFields(z.object({ display: given(words) }), filters);
  return DISPLAYS.find((known) => known === display) ?? 'ActionsLineGraph';
}
