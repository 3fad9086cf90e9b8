import type { JsonObject } from '../http/json.ts';
import type { Filter } from '../query/filter.ts';
import type { Interval } from '../query/interval.ts';
import type { Entity } from './entity.ts';
import type { DateWords } from './insight-kind.ts';
import { readCommon } from './parse/common.ts';
import { readAnySeries } from './parse/entities.ts';
import { readBreakdown, readInterval } from './parse/fields.ts';

/** What of a person's history an insight looks at. */
export interface TimelineQuery {
  readonly dates: DateWords;
  readonly interval: Interval;
  /** Whose events count; of none: all. */
  readonly series: readonly Entity[];
  /** Properties of persons in filters and breakdown; those that actions ask for are not among them. */
  readonly keys: readonly string[];
}

export const TIMELINE_PARAMETERS = {
  actions: 'JSON: a list of `{id, properties}`, whose events count as well.',
  events: 'JSON: a list of `{id, properties}`, whose events count; without it all do.',
  properties: 'JSON: conditions, whose person properties are followed.',
  breakdown: 'Name of a property, which is followed where it is one of persons.',
  breakdown_type: '`event` (default) or `person`.',
  date_from: 'ISO 8601 in the zone of the project, relative (`-7d`, `mStart`) or `all`. Default `-7d`.',
  date_to: 'The same; the default is now. Where both are the same, one interval is shown.',
  explicit_date: 'True: dates are moments, and nothing is rounded.',
  interval: '`hour`, `day` (default), `week` or `month`.',
} as const;

/** Reads the filters of an insight. Conditions say which properties matter, and leave out no events. */
export function readTimelineQuery(filters: JsonObject): TimelineQuery {
  const { dates, filter } = readCommon(filters);
  const series = readAnySeries(filters);
  const breakdown = readBreakdown(filters);
  const interval = readInterval(filters);
  const keys = [filter, ...series.map((entity) => entity.filter)].flatMap(listPersonKeys);
  if (breakdown?.owner === 'person') keys.push(breakdown.key);
  return {
    dates,
    interval: interval === 'auto' ? 'day' : interval,
    series,
    keys,
  };
}

export function listPersonKeys(filter: Filter): string[] {
  if (filter.kind === 'group') return filter.members.flatMap(listPersonKeys);
  return filter.kind === 'property' && filter.owner === 'person' ? [filter.key] : [];
}
