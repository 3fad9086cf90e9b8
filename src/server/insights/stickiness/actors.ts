import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { MAX_INTERVALS } from '../../query/interval.ts';
import { invalid } from '../insight-error.ts';
import { cutRange } from '../intervals.ts';
import { type ActorList, type ActorQuestion, listActors, NOBODY } from '../lists/actor-list.ts';
import { readCommon } from '../parse/common.ts';
import { readAnySeries } from '../parse/entities.ts';
import { count, readFields, readInterval } from '../parse/fields.ts';
import { readTargetSeries, TARGET_PARAMETERS } from '../parse/target-series.ts';
import { findActiveIn } from './store.ts';

/** Who was active in exactly so many intervals. */
export const stickinessActors: ActorList = {
  path: 'stickiness',
  methods: ['get'],
  summary: 'List the persons behind a number of a stickiness',
  shows: 'actors',
  parameters: {
    ...TARGET_PARAMETERS,
    stickiness_days: 'In how many intervals they were active. Required, under this name or the next.',
    selected_interval: 'The same.',
  },
  parse: parseStickinessActors,
};

const pointFields = z.object({
  stickiness_days: count(1, MAX_INTERVALS),
  selected_interval: count(1, MAX_INTERVALS),
});

function parseStickinessActors(filters: JsonObject): ActorQuestion {
  const { stickiness_days: days, selected_interval: selected } = readFields(pointFields, filters);
  const active = days ?? selected;
  if (active === undefined) throw invalid('Say in how many intervals they were active.', 'stickiness_days');
  const entity = readTargetSeries(filters);
  return {
    ...readCommon(filters),
    interval: readInterval(filters),
    entities: [entity, ...readAnySeries(filters)],
    async find(_tx, steps, scope, range) {
      const buckets = cutRange(range);
      if (buckets.starts.length < active) return NOBODY;
      return listActors(await findActiveIn(steps, scope, buckets, entity, active));
    },
  };
}
