import type { Html } from '../../../charts/html.ts';
import { renderOverTime } from '../../../charts/over-time.ts';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import type { CommonQuery, InsightKind } from '../insight-kind.ts';
import { readSeries } from '../parse/entities.ts';
import { readInterval } from '../parse/fields.ts';
import { computeLifecycle } from './compute.ts';
import type { LifecycleData, LifecycleQuery, LifecycleStatus } from './model.ts';

/** Persons who are new, come back or stop coming, by interval. */
export const lifecycle: InsightKind<'LIFECYCLE', LifecycleQuery, LifecycleData> = {
  name: 'LIFECYCLE',
  source: { kind: 'LifecycleQuery', filterKey: 'lifecycleFilter' },
  parse: parseLifecycle,
  listEntities: ({ entity }) => [entity],
  getInterval: ({ interval }) => interval,
  compute: computeLifecycle,
  isEmpty: ({ result }) => result.every(({ data }) => data.every((value) => value === 0)),
  render: renderLifecycle,
};

function parseLifecycle(filters: JsonObject, common: CommonQuery): LifecycleQuery {
  const [entity, second] = readSeries(filters);
  if (entity === undefined || second !== undefined) throw unsupported('A lifecycle is of one event.');
  return { insight: 'LIFECYCLE', ...common, entity, interval: readInterval(filters) };
}

const STATUS_COLORS: Readonly<Record<LifecycleStatus, string>> = {
  new: 'insight-1',
  returning: 'insight-3',
  resurrecting: 'insight-4',
  dormant: 'insight-2',
};

function renderLifecycle({ result }: LifecycleData): Html {
  const series = result.map(({ status, data: values }) => ({
    name: status,
    values,
    color: STATUS_COLORS[status],
  }));
  return renderOverTime('columns', series, result[0]?.days ?? []);
}
