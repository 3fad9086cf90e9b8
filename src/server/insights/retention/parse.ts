import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { INTERVALS } from '../../query/interval.ts';
import { invalid, naming, unsupported } from '../insight-error.ts';
import type { CommonQuery } from '../insight-kind.ts';
import { entityDocument, readEntity } from '../parse/entities.ts';
import { count, given, readBreakdown, readFields, words } from '../parse/fields.ts';
import type { RetentionQuery } from './model.ts';

const DEFAULT_INTERVALS = 11;
export const MAX_INTERVALS = 100;

const retentionFields = z.object({
  target_entity: entityDocument,
  returning_entity: entityDocument,
  period: given(words),
  total_intervals: count(1, MAX_INTERVALS),
  retention_type: given(words),
});

const PAGEVIEWS = { id: '$pageview', type: 'events', name: '$pageview' };

export function parseRetention(filters: JsonObject, common: CommonQuery): RetentionQuery {
  const fields = readFields(retentionFields, filters);
  const { period = 'Day', retention_type: type = 'retention_recurring' } = fields;
  const known = INTERVALS.find((name) => name === period.toLowerCase());
  if (known === undefined) throw invalid(`Period ${period.slice(0, 40)} is unsupported.`, 'period');
  if (type !== 'retention_recurring' && type !== 'retention_first_time') {
    throw unsupported(`Retention of type "${type.slice(0, 40)}" is not supported.`, 'retention_type');
  }
  const target = fields.target_entity ?? PAGEVIEWS;
  return {
    insight: 'RETENTION',
    ...common,
    target: naming('target_entity', () => readEntity(target, 'target_entity')),
    returning: naming('returning_entity', () =>
      readEntity(fields.returning_entity ?? target, 'returning_entity'),
    ),
    breakdown: readBreakdown(filters),
    period: known,
    totalIntervals: fields.total_intervals ?? DEFAULT_INTERVALS,
    firstTime: type === 'retention_first_time',
  };
}
