import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import type { CommonQuery } from '../insight-kind.ts';
import { readSeries } from '../parse/entities.ts';
import { count, flag, given, readBreakdown, readFields, readInterval, words } from '../parse/fields.ts';
import { DISPLAYS, type Display, type TrendsQuery } from './model.ts';

const trendFields = z.object({
  compare: flag,
  compare_to: given(words),
  formula: given(words),
  smoothing_intervals: count(1, 1000),
});

export function parseTrends(filters: JsonObject, common: CommonQuery): TrendsQuery {
  const fields = readFields(trendFields, filters);
  if (fields.formula !== undefined) {
    throw unsupported('Formulas are not supported: show the series themselves.');
  }
  if ((fields.smoothing_intervals ?? 1) > 1) throw unsupported('Smoothed lines are not supported.');
  if (fields.compare === true && fields.compare_to !== undefined) {
    throw unsupported('A comparison with another period than the one before is not supported.');
  }
  return {
    insight: 'TRENDS',
    ...common,
    series: readSeries(filters),
    interval: readInterval(filters),
    breakdown: readBreakdown(filters),
    display: readDisplay(filters),
    compare: fields.compare ?? false,
  };
}

/** An unknown display is no reason to refuse a trend: it is drawn as lines. */
export function readDisplay(filters: JsonObject): Display {
  const { display } = readFields(z.object({ display: given(words) }), filters);
  return DISPLAYS.find((known) => known === display) ?? 'ActionsLineGraph';
}
