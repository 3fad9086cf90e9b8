import { z } from 'zod';
import { sql } from '../../database/sql.ts';
import type { JsonObject } from '../../http/json.ts';
import { type ActorList, type ActorQuestion, NOBODY } from '../actor-list.ts';
import { readCommon } from '../parse/common.ts';
import { count, parseList, readBreakdown, readFields, words } from '../parse/fields.ts';
import { cutRetention } from './compute.ts';
import { MAX_INTERVALS, parseRetention } from './parse.ts';
import { findRetained } from './store.ts';

/** Who is in one row of a retention, and when they came back. */
export const retentionActors: ActorList = {
  path: 'retention',
  methods: ['get'],
  summary: 'List the persons of a row of a retention, and when they came back',
  shows: 'appearances',
  parameters: {
    target_entity: 'JSON: `{id, type, properties}`. Default: page views.',
    returning_entity: 'The same for the events to come back with. Default: the target.',
    period: '`Hour`, `Day` (default), `Week` or `Month`.',
    total_intervals: 'How many periods (default 11).',
    retention_type: '`retention_recurring` (default) or `retention_first_time`.',
    selected_interval: 'Index of the row, from 0 (default).',
    breakdown: 'Name of a property of the target event or its person.',
    breakdown_type: '`event` (default) or `person`.',
    breakdown_values:
      'JSON: a list of one: only target events with this value. Without a breakdown, the index of the row.',
  },
  parse: parseRetentionActors,
};

const pointFields = z.object({
  selected_interval: count(0, MAX_INTERVALS),
  breakdown_values: parseList(z.union([words, z.number(), z.boolean()]), 1),
});

function parseRetentionActors(filters: JsonObject): ActorQuestion {
  const { selected_interval: selected, breakdown_values: [value] = [] } = readFields(pointFields, filters);
  const property = readBreakdown(filters);
  const index = selected ?? (property === undefined ? readIndex(value) : 0);
  const { breakdown: _, breakdowns: __, ...own } = filters;
  const ofValue = property && value !== undefined ? { ofValue: { property, value: String(value) } } : {};
  const query = { ...parseRetention(own, readCommon(filters)), ...ofValue };
  return {
    dates: query.dates,
    filter: query.filter,
    interval: query.period,
    entities: [query.target, query.returning],
    async find(_tx, steps, scope, range) {
      const buckets = cutRetention(range, query);
      if (index >= buckets.starts.length) return NOBODY;
      return {
        rows: sql`select * from ${await findRetained(steps, scope, buckets, query, index + 1)} as retained`,
        order: sql`cardinality(array_positions(appearances, 1)) desc`,
      };
    },
  };
}

function readIndex(value: unknown = 0): number {
  const { breakdown_values: index = 0 } = readFields(
    z.object({ breakdown_values: count(0, MAX_INTERVALS) }),
    { breakdown_values: value },
  );
  return index;
}
