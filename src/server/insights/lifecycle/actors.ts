import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { invalid } from '../insight-error.ts';
import { findBucketOf } from '../intervals.ts';
import { type ActorList, type ActorQuestion, listActors, NOBODY } from '../lists/actor-list.ts';
import { readCommon } from '../parse/common.ts';
import { readSeries } from '../parse/entities.ts';
import { given, oneOf, readFields, readInterval, words } from '../parse/fields.ts';
import { cutLifecycle } from './compute.ts';
import { LIFECYCLE_STATUSES } from './model.ts';
import { findInLifecycle } from './store.ts';

/** Who is new, returning, resurrecting or dormant in one interval. */
export const lifecycleActors: ActorList = {
  path: 'lifecycle',
  methods: ['get'],
  summary: 'List the persons behind a number of a lifecycle',
  shows: 'actors',
  parameters: {
    target_date: 'A moment in the interval whose persons are listed: ISO 8601 or relative. Required.',
    lifecycle_type: '`new`, `returning`, `resurrecting` or `dormant`. Required.',
  },
  parse: parseLifecycleActors,
};

const pointFields = z.object({ target_date: given(words), lifecycle_type: oneOf(LIFECYCLE_STATUSES) });

function parseLifecycleActors(filters: JsonObject): ActorQuestion {
  const { target_date: date, lifecycle_type: status } = readFields(pointFields, filters);
  if (date === undefined) throw invalid('Must include specified date', 'target_date');
  if (status === undefined) throw invalid('Must include lifecycle type', 'lifecycle_type');
  const series = readSeries(filters);
  const [entity] = series;
  if (entity === undefined) throw invalid('Choose an event.', 'events');
  return {
    ...readCommon(filters),
    interval: readInterval(filters),
    entities: series,
    async find(_tx, steps, scope, range) {
      const buckets = cutLifecycle(range);
      const bucket = findBucketOf({ text: date, attr: 'target_date' }, buckets, range, scope.now);
      if (bucket === undefined || bucket < 2) return NOBODY;
      return listActors(await findInLifecycle(steps, scope, buckets, entity, { status, bucket }));
    },
  };
}
