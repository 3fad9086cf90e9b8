import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { invalid, unsupported } from '../insight-error.ts';
import type { CommonQuery } from '../insight-kind.ts';
import { count, flag, given, parseList, readFields, words } from '../parse/fields.ts';
import type { PathsQuery } from './model.ts';

const DEFAULT_STEPS = 5;
const MAX_STEPS = 20;
const DEFAULT_EDGES = 50;
const MAX_EDGES = 1000;
const MAX_ITEMS = 100;
const MAX_GROUPINGS = 20;
const ANY_WEIGHT = 1_000_000_000;

const pathFields = z.object({
  include_event_types: parseList(words, MAX_ITEMS),
  include_custom_events: parseList(words, MAX_ITEMS),
  custom_events: parseList(words, MAX_ITEMS),
  exclude_events: parseList(words, MAX_ITEMS),
  path_groupings: parseList(words, MAX_GROUPINGS),
  start_point: given(words),
  end_point: given(words),
  step_limit: count(2, MAX_STEPS),
  edge_limit: count(1, MAX_EDGES),
  min_edge_weight: count(0, ANY_WEIGHT),
  max_edge_weight: count(0, ANY_WEIGHT),
  path_replacements: flag,
  local_path_cleaning_filters: parseList(z.unknown(), MAX_ITEMS),
  paths_hogql_expression: given(words),
  funnel_paths: given(words),
});

/** Kinds of items by the names that filters give them. */
const PAGEVIEWS = '$pageview';
const SCREENS = '$screen';
const CUSTOM = 'custom_event';

export function parsePaths(filters: JsonObject, common: CommonQuery): PathsQuery {
  const fields = readFields(pathFields, filters);
  const types = new Set(fields.include_event_types ?? []);
  const events = fields.include_custom_events ?? fields.custom_events ?? [];
  const rest = [...types].filter((type) => type !== PAGEVIEWS && type !== SCREENS && type !== CUSTOM);
  if (rest.length > 0 || fields.paths_hogql_expression !== undefined) {
    throw unsupported('Paths are made of page views, screens and custom events only.', 'include_event_types');
  }
  if (types.has(CUSTOM) && events.length > 0) {
    throw invalid('Choose either all custom events or the ones you name.', 'include_custom_events');
  }
  if (fields.funnel_paths !== undefined)
    throw unsupported('Paths between the steps of a funnel are not supported.', 'funnel_paths');
  if (fields.path_replacements === true || fields.local_path_cleaning_filters?.length) {
    throw unsupported('Rules that clean paths are not supported: use path_groupings.', 'path_replacements');
  }
  const [startPoint, endPoint] = [fields.start_point, fields.end_point].map(withoutSlash);
  if (startPoint !== undefined && endPoint !== undefined) {
    throw unsupported('Choose either where paths start or where they end.', 'end_point');
  }
  return {
    insight: 'PATHS',
    ...common,
    include: {
      pageviews: types.has(PAGEVIEWS),
      screens: types.has(SCREENS),
      custom: types.has(CUSTOM),
      events,
    },
    exclude: fields.exclude_events ?? [],
    startPoint,
    endPoint,
    stepLimit: fields.step_limit ?? DEFAULT_STEPS,
    edgeLimit: fields.edge_limit ?? DEFAULT_EDGES,
    minEdgeWeight: fields.min_edge_weight,
    maxEdgeWeight: fields.max_edge_weight,
    groupings: fields.path_groupings ?? [],
  };
}

/** Addresses are compared without their last slash, as paths have none. */
function withoutSlash(point: string | undefined): string | undefined {
  return point !== undefined && point.length > 1 ? point.replace(/\/$/, '') : point;
}
