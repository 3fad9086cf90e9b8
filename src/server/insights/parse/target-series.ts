import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import type { Series } from '../entity.ts';
import { invalid, naming } from '../insight-error.ts';
import { checkMath, readAnySeries, readOneSeries } from './entities.ts';
import { count, given, readFields, words } from './fields.ts';

/** The parameters that name one series, with what they are. */
export const TARGET_PARAMETERS = {
  entity_id: 'Name of the event, or id of the action; also as `entityId`.',
  entity_type:
    '`events` (default) or `actions`; without `entity_id` `events` means every event. Also as `type`.',
  entity_math: 'How the series counts, where several are of one event.',
  entity_order: 'The `order` of the series in `events`; it goes before the id.',
} as const;

const targetFields = z.object({
  entity_id: given(z.union([words, z.number()])),
  entityId: given(z.union([words, z.number()])),
  entity_type: given(words),
  type: given(words),
  entity_math: given(words),
  entity_order: count(0, 1000),
});

/** The series that a number is of: one of `events`, or one that the parameters describe. */
export function readTargetSeries(filters: JsonObject): Series {
  const fields = readFields(targetFields, filters);
  const id = fields.entity_id ?? fields.entityId;
  const type = fields.entity_type ?? fields.type;
  const { entity_math: math, entity_order: order } = fields;
  if (id === undefined && type !== 'events') {
    throw invalid(
      'An entity id and the entity type must be provided to determine an entity',
      id === undefined ? 'entity_id' : 'entity_type',
    );
  }
  if (math !== undefined) naming('entity_math', () => checkMath(math));
  const all = readAnySeries(filters);
  const isEvent = (type ?? 'events') === 'events';
  const attr = isEvent ? 'entity_math' : type === 'actions' ? 'entity_id' : 'entity_type';
  const named = naming(attr, () => readOneSeries({ id, type, math }, attr));
  const same = all.filter(
    ({ event, saved }) => event === named.event && saved?.actionId === named.saved?.actionId,
  );
  return (
    all.find((series) => series.order === order) ??
    same.find(({ measure }) => math === undefined || measure.math === math) ??
    same[0] ??
    named
  );
}
