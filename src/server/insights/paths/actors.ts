import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { wholeRange } from '../intervals.ts';
import { type ActorList, type ActorQuestion, listActors } from '../lists/actor-list.ts';
import { readCommon } from '../parse/common.ts';
import { given, readFields, words } from '../parse/fields.ts';
import { parsePaths } from './parse.ts';
import { findOnPaths } from './store.ts';

/** Who went along a part of paths. */
export const pathActors: ActorList = {
  path: 'path',
  methods: ['get', 'post'],
  summary: 'List the persons who went along an edge of paths, or whose paths ended at an item',
  shows: 'actors',
  parameters: {
    path_start_key: 'The `source` of edges, such as `1_/home`: who went on from there.',
    path_end_key: 'The `target` of edges: who came there. With a start, who went from one to the other.',
    path_dropoff_key: 'An item at its place, such as `2_/about`: whose path ended there.',
    include_event_types: 'JSON: a list of `$pageview`, `$screen`, `custom_event`.',
    include_custom_events: 'JSON: a list of names of events.',
    exclude_events: 'JSON: a list of items that are left out.',
    path_groupings: 'JSON: a list of patterns with `*`; what matches becomes the pattern.',
    start_point: 'Paths begin there.',
    end_point: 'Paths end there.',
    step_limit: 'How many items of a path are looked at (default 5).',
    path_replacements: 'Refused.',
    funnel_paths: 'Refused.',
  },
  parse: parsePathActors,
};

const pointFields = z.object({
  path_start_key: given(words),
  path_end_key: given(words),
  path_dropoff_key: given(words),
});

function parsePathActors(filters: JsonObject): ActorQuestion {
  const fields = readFields(pointFields, filters);
  const { path_start_key: source, path_end_key: target, path_dropoff_key: end } = fields;
  const query = parsePaths(filters, readCommon(filters));
  return {
    dates: query.dates,
    filter: query.filter,
    interval: 'day',
    entities: [],
    find: async (_tx, steps, scope, range) =>
      listActors(await findOnPaths(steps, scope, wholeRange(range), query, { source, target, end })),
  };
}
