import type { InsightKind } from '../insight-kind.ts';
import { computeRetention } from './compute.ts';
import type { RetentionData, RetentionQuery } from './model.ts';
import { parseRetention } from './parse.ts';
import { renderRetention } from './render.ts';

/** Persons who came back so many periods after an event. */
export const retention: InsightKind<'RETENTION', RetentionQuery, RetentionData> = {
  name: 'RETENTION',
  source: { kind: 'RetentionQuery', filterKey: 'retentionFilter' },
  parse: parseRetention,
  listEntities: ({ target, returning }) => [target, returning],
  getBreakdown: ({ breakdown }) => breakdown,
  getInterval: ({ period }) => period,
  compute: computeRetention,
  isEmpty: ({ result }) => result.every(({ values }) => values.every(({ count }) => count === 0)),
  render: ({ result }) => renderRetention(result),
};
