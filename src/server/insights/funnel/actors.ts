import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { invalid } from '../insight-error.ts';
import { cutRange, findBucketOf, wholeRange } from '../intervals.ts';
import { type ActorList, type ActorQuestion, listActors, NOBODY } from '../lists/actor-list.ts';
import { readPart } from '../parse/breakdown-value.ts';
import { readCommon } from '../parse/common.ts';
import { flag, given, integer, parseList, readFields, seconds, words } from '../parse/fields.ts';
import type { FunnelQuery } from './model.ts';
import { parseFunnel } from './parse.ts';
import { findInFunnel, findInPeriod } from './store.ts';

/** Parameters that say which funnel. */
export const FUNNEL_PARAMETERS = {
  funnel_order_type: '`ordered` (default), `strict` or `unordered`.',
  funnel_window_interval: 'How long somebody may take from the first step to the last (default 14).',
  funnel_window_interval_unit: '`second`, `minute`, `hour`, `day` (default), `week` or `month`.',
  funnel_window_days: 'The same in days, as older clients write it.',
  exclusions: 'JSON: a list of `{id, funnel_from_step, funnel_to_step}`, steps from 0.',
  breakdown: 'Name of a property, or ids of cohorts.',
  breakdown_type: '`event` (default), `person`, `session` or `cohort`.',
  breakdown_limit: 'As of the insight (default 25).',
  breakdown_attribution_type: '`first_touch` (default) or `last_touch`.',
} as const;

/** Who reached a step of a funnel, or was lost before it. */
export const funnelActors: ActorList = {
  path: 'funnel',
  methods: ['get', 'post'],
  summary: 'List the persons who reached a step of a funnel, or were lost before it',
  shows: 'actors',
  parameters: {
    ...FUNNEL_PARAMETERS,
    funnel_step:
      'n: who reached step n at least. -n: who reached the step before it and no further. 0: everybody.',
    funnel_custom_steps:
      'JSON: a list of numbers of steps; who reached exactly so many. Before `funnel_step`.',
    funnel_step_breakdown:
      'Only those with this value; empty for none, `$$_breakdown_other_$$` for all beyond the limit.',
    funnel_viz_type:
      '`steps` (default); `trends` for a funnel over time: then the next four name the number, in place of ' +
      '`funnel_step`; `time_to_convert`: then two steps and two times do.',
    entrance_period_start: 'A moment of the interval in which they entered.',
    drop_off: 'True: who was lost before the last of the steps. False: who reached it.',
    funnel_from_step: 'The first of the steps, from 0 (default).',
    funnel_to_step: 'The last of them, by default the last of the funnel.',
    funnel_time_from: 'Seconds from the first of the two steps to the last: at least so many.',
    funnel_time_until: 'Fewer than so many.',
  },
  parse: parseFunnelActors,
};

const pointFields = z.object({
  funnel_step: given(integer),
  funnel_custom_steps: parseList(integer, 100),
});

function parseFunnelActors(filters: JsonObject): ActorQuestion {
  const query = parseFunnel(filters, readCommon(filters));
  if (query.shown === 'trends') return parsePeriodActors(filters, query);
  if (query.shown === 'time_to_convert') return parseTimeActors(filters, query);
  const reached = readReached(filters, query.steps.length);
  const { value, ...own } = readPart(query.breakdown, filters, 'funnel_step_breakdown');
  const asked = { ...query, ...own };
  return {
    ...describeQuestion(asked),
    find: async (_tx, steps, scope, range) =>
      listActors(await findInFunnel(steps, scope, wholeRange(range), asked, { reached, value })),
  };
}

const describeQuestion = ({ dates, filter, steps, exclusions, breakdown }: FunnelQuery) =>
  ({ dates, filter, interval: 'day', entities: [...steps, ...exclusions], breakdown }) as const;

const timeFields = z.object({ funnel_time_from: seconds, funnel_time_until: seconds });

/** Of times to convert: who took so long. */
function parseTimeActors(filters: JsonObject, query: FunnelQuery): ActorQuestion {
  const { funnel_time_from: from, funnel_time_until: until } = readFields(timeFields, filters);
  const reached = query.steps.map((_, index) => index + 1).filter((number) => number > query.span.to);
  const part = { reached, value: undefined, took: { from, until } };
  return {
    ...describeQuestion(query),
    find: async (_tx, steps, scope, range) =>
      listActors(await findInFunnel(steps, scope, wholeRange(range), query, part)),
  };
}

const periodFields = z.object({ entrance_period_start: given(words), drop_off: flag });

/** Of a funnel over time: who entered in one period, and reached a step or was lost before it. */
function parsePeriodActors(filters: JsonObject, query: FunnelQuery): ActorQuestion {
  const fields = readFields(periodFields, filters);
  const { entrance_period_start: text, drop_off: isLost } = fields;
  const attr = 'entrance_period_start';
  if (text === undefined) {
    throw invalid(`Filter parameter ${attr} must be provided for funnel trends persons!`, attr);
  }
  if (isLost === undefined) {
    throw invalid(
      'Filter parameter drop_off must be provided and a bool for funnel trends persons!',
      'drop_off',
    );
  }
  const { from, to } = query.span;
  const all = query.steps.map((_, index) => index + 1);
  const reached = all.filter((number) => (isLost ? number > from && number <= to : number > to));
  const { value, ...own } = readPart(query.breakdown, filters, 'funnel_step_breakdown');
  const asked = { ...query, ...own };
  return {
    ...describeQuestion(asked),
    interval: query.interval,
    async find(_tx, steps, scope, range) {
      const buckets = cutRange(range);
      const period = findBucketOf({ text, attr }, buckets, range, scope.now);
      if (period === undefined) return NOBODY;
      return listActors(await findInPeriod(steps, scope, buckets, asked, { period, reached, value }));
    },
  };
}

/** How many steps the persons reached whom a list is about. */
function readReached(filters: JsonObject, stepCount: number): number[] {
  const { funnel_step: asked, funnel_custom_steps: custom = [] } = readFields(pointFields, filters);
  const all = Array.from({ length: stepCount }, (_, index) => index + 1);
  if (custom.length > 0) {
    const unknown = custom.find((number) => !all.includes(number));
    if (unknown === undefined) return custom;
    throw invalid(
      `The funnel has no step ${unknown}: its steps are 1 to ${stepCount}.`,
      'funnel_custom_steps',
    );
  }
  if (asked === undefined) throw invalid('Say which step: funnel_step is missing.', 'funnel_step');
  if (asked === 0) return all;
  if (Math.abs(asked) > stepCount || asked === -1) {
    throw invalid(
      `funnel_step: ${asked} is none: 1 to ${stepCount} are steps, -2 to -${stepCount} who was lost before one.`,
      'funnel_step',
    );
  }
  return asked > 0 ? all.slice(asked - 1) : [-asked - 1];
}
