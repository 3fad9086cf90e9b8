import { z } from 'zod';
import { createWordAxis } from '../../../charts/axis.ts';
import { renderColumns } from '../../../charts/columns.ts';
import type { Html } from '../../../charts/html.ts';
import { renderLines } from '../../../charts/lines.ts';
import { pickColor } from '../../../charts/plot.ts';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import type { CommonQuery, InsightKind } from '../insight-kind.ts';
import { readSeries } from '../parse/entities.ts';
import { flag, readFields, readInterval } from '../parse/fields.ts';
import { computeStickiness } from './compute.ts';
import type { StickinessData, StickinessQuery } from './model.ts';

/** Persons by the number of intervals that they were active in. */
export const stickiness: InsightKind<'STICKINESS', StickinessQuery, StickinessData> = {
  name: 'STICKINESS',
  source: { kind: 'StickinessQuery', filterKey: 'stickinessFilter', toFilters: refuseCriteria },
  parse: parseStickiness,
  listEntities: ({ series }) => series,
  getInterval: ({ interval }) => interval,
  compute: computeStickiness,
  isEmpty: ({ result }) => result.every(({ data }) => data.every((value) => value === 0)),
  render: renderStickiness,
};

function parseStickiness(filters: JsonObject, common: CommonQuery): StickinessQuery {
  const { compare } = readFields(z.object({ compare: flag }), filters);
  if (compare === true) throw unsupported('A stickiness cannot be compared with the period before.');
  return {
    insight: 'STICKINESS',
    ...common,
    series: readSeries(filters),
    interval: readInterval(filters),
  };
}

function refuseCriteria({
  stickiness_criteria: criteria,
  computed_as: computedAs,
  ...own
}: JsonObject): JsonObject {
  if (criteria !== undefined && criteria !== null) {
    throw unsupported('Stickiness counts every interval with one event or more.');
  }
  if (computedAs === 'cumulative') throw unsupported('Cumulative stickiness is not supported.');
  return own;
}

function renderStickiness({ result }: StickinessData): Html {
  const axis = createWordAxis(result[0]?.labels ?? []);
  const series = result.map(({ label, data: values }, index) => ({
    name: label,
    values,
    color: pickColor(index),
  }));
  return series.length === 1 ? renderColumns(series, axis) : renderLines(series, axis);
}
