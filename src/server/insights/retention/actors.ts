import { z } from 'zod';
import { sql } from '../../database/sql.ts';
import type { JsonObject } from '../../http/json.ts';
import { type ActorList, type ActorQuestion, NOBODY } from '../lists/actor-list.ts';
import { readPart } from '../parse/breakdown-value.ts';
import { readCommon } from '../parse/common.ts';
import { count, parseList, readFields, words } from '../parse/fields.ts';
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
    breakdown: 'Name of a property of the target event, its person or session, or ids of cohorts.',
    breakdown_type: '`event` (default), `person`, `session` or `cohort`.',
    breakdown_limit: 'As of the insight (default 25).',
    breakdown_values:
      'JSON: a list of one: only target events with this value, `$$_breakdown_other_$$` for all beyond the limit. ' +
      'Without a breakdown, the index of the row.',
  },
  parse: parseRetentionActors,
};

const pointFields = z.object({
  selected_interval: count(0, MAX_INTERVALS),
  breakdown_values: parseList(z.union([words, z.number(), z.boolean()]), 1),
});

function parseRetentionActors(filters: JsonObject): ActorQuestion {
  const { selected_interval: selected, breakdown_values: [value] = [] } = readFields(pointFields, filters);
  const asked = parseRetention(filters, readCommon(filters));
  const index = selected ?? (asked.breakdown === undefined ? readIndex(value) : 0);
  const part = readPart(asked.breakdown, { breakdown_values: value }, 'breakdown_values');
  // Without a value it does not matter which one an event has.
  const breakdown = part.value === undefined ? undefined : part.breakdown;
  const query = { ...asked, breakdown };
  return {
    dates: query.dates,
    filter: query.filter,
    interval: query.period,
    entities: [query.target, query.returning],
    breakdown,
    async find(tx, steps, scope, range) {
      const buckets = cutRetention(range, query);
      if (index >= buckets.starts.length) return NOBODY;
      const retained = await findRetained(tx, steps, scope, buckets, query, {
        row: index + 1,
        value: part.value,
      });
      return {
        rows: sql`select * from ${retained} as retained`,
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
