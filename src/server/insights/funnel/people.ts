import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { invalid } from '../insight-error.ts';
import { wholeRange } from '../intervals.ts';
import { readBreakdownValue } from '../parse/breakdown-value.ts';
import { readCommon } from '../parse/common.ts';
import { given, parseList, plainNumber, readFields } from '../parse/fields.ts';
import { listActors, type PeopleKind, type PeopleQuestion } from '../people-kind.ts';
import { parseFunnel } from './parse.ts';
import { findInFunnel } from './store.ts';

/** Parameters that say which funnel. */
export const FUNNEL_PARAMETERS = {
  funnel_order_type: '`ordered` (default), `strict` or `unordered`.',
  funnel_window_interval: 'How long somebody may take from the first step to the last (default 14).',
  funnel_window_interval_unit: '`second`, `minute`, `hour`, `day` (default), `week` or `month`.',
  funnel_window_days: 'The same in days, as older clients write it.',
  exclusions: 'JSON: a list of `{id, funnel_from_step, funnel_to_step}`, steps from 0.',
  breakdown: 'Name of a property.',
  breakdown_type: '`event` (default) or `person`.',
  breakdown_limit: 'As of the insight (default 25).',
  breakdown_attribution_type: '`first_touch` (default) or `last_touch`.',
} as const;

/** Who reached a step of a funnel, or was lost before it. */
export const funnelPeople: PeopleKind = {
  path: 'funnel',
  methods: ['get', 'post'],
  summary: 'List the persons who reached a step of a funnel, or were lost before it',
  shows: 'people',
  parameters: {
    ...FUNNEL_PARAMETERS,
    funnel_step:
      'n: who reached step n at least. -n: who reached the step before it and no further. 0: everybody.',
    funnel_custom_steps:
      'JSON: a list of numbers of steps; who reached exactly so many. Before `funnel_step`.',
    funnel_step_breakdown:
      'Only those with this value; empty for none, `$$_breakdown_other_$$` for all beyond the limit.',
  },
  parse: parseFunnelPeople,
};

const step = z.preprocess(plainNumber, z.coerce.number().int());
const pointFields = z.object({
  funnel_step: given(step),
  funnel_custom_steps: parseList(step, 100),
});

function parseFunnelPeople(filters: JsonObject): PeopleQuestion {
  const query = parseFunnel(filters, readCommon(filters));
  const reached = readReached(filters, query.steps.length);
  const value = query.breakdown && readBreakdownValue(filters, 'funnel_step_breakdown');
  return {
    dates: query.dates,
    filter: query.filter,
    interval: 'day',
    entities: [...query.steps, ...query.exclusions],
    find: async (_tx, steps, scope, range) =>
      listActors(await findInFunnel(steps, scope, wholeRange(range), query, { reached, value })),
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
