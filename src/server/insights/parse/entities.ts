import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../http/json.ts';
import type { FilterGroup } from '../../query/filter.ts';
import { idOf, WHERE_ACTIONS_ARE } from '../../query/item-fields.ts';
import {
  COUNT_MATHS,
  type CountMath,
  type Entity,
  type Measure,
  PROPERTY_MATHS,
  type PropertyMath,
  type Series,
} from '../entity.ts';
import { invalid, unsupported } from '../insight-error.ts';
import { count, fromJson, given, parseList, readFields, readFilter, words } from './fields.ts';

/** As many as there are letters to name them with. */
const MAX_SERIES = 26;

const entityFields = z.object({
  id: given(z.union([words, z.number()])),
  type: given(words),
  order: count(0, 1000),
  name: given(words),
  custom_name: given(words),
  math: given(words),
  math_property: given(words),
  math_property_type: given(words),
  properties: given(z.unknown()),
});

type EntityFields = z.infer<typeof entityFields>;

const seriesFields = z.object({
  events: parseList(entityFields, MAX_SERIES),
  actions: parseList(entityFields, MAX_SERIES),
  data_warehouse: parseList(z.unknown(), MAX_SERIES),
});

/** What the insight counts, in the order it is shown. */
export function readSeries(filters: unknown): Series[] {
  const { events = [], actions = [], data_warehouse: tables = [] } = readFields(seriesFields, filters);
  if (tables.length > 0) throw unsupported('Tables of a data warehouse are not supported: choose events.');
  const chosen = [...events, ...actions.map((fields) => ({ ...fields, type: 'actions' }))];
  if (chosen.length === 0) throw invalid('Choose at least one event or action.', 'events');
  if (chosen.length > MAX_SERIES)
    throw invalid(`Choose ${MAX_SERIES} events and actions at most.`, 'actions');
  return chosen
    .map((fields, index) => ({
      ...toEntity(fields, fields.order ?? index, index < events.length ? 'events' : 'actions'),
      measure: toMeasure(fields),
    }))
    .sort((a, b) => a.order - b.order);
}

/** The series of filters that need none. */
export function readAnySeries(filters: unknown): Series[] {
  const lists = Object.values(readFields(seriesFields, filters));
  return lists.every((list = []) => list.length === 0) ? [] : readSeries(filters);
}

/** One series of its own; `attr` is the parameter that names it. */
export function readOneSeries(document: unknown, attr: string): Series {
  const fields = readFields(entityFields, document);
  return { ...toEntity(fields, fields.order ?? 0, attr), measure: toMeasure(fields) };
}

/** One entity of its own, such as the target of retention; `attr` is the parameter that holds it. */
export function readEntity(document: unknown, attr: string): Entity {
  return toEntity(readFields(entityFields, document), 0, attr);
}

export const entityDocument = fromJson(z.custom<JsonObject>(isJsonObject, 'Must be an object.'));

function toEntity(fields: EntityFields, order: number, attr: string): Entity {
  const { id, type = 'events' } = fields;
  if (type !== 'events' && type !== 'actions')
    throw unsupported(`Entities of type "${type.slice(0, 40)}" are not supported: choose events or actions.`);
  const actionId = type === 'actions' ? readActionId(id, attr) : undefined;
  const event = id === undefined || actionId !== undefined ? null : String(id);
  const name = fields.name ?? event ?? (actionId === undefined ? 'All events' : `Action ${actionId}`);
  const filter: FilterGroup = readFilter(fields.properties);
  const saved = actionId === undefined ? {} : { saved: { actionId, attr } };
  const customName = fields.custom_name ?? null;
  return { event, ...saved, name, customName, order, filter, action: describeAction() };

  function describeAction(): JsonObject {
    return {
      id: actionId ?? event,
      type,
      order,
      name,
      custom_name: fields.custom_name ?? null,
      math: fields.math ?? null,
      math_property: fields.math_property ?? null,
      math_group_type_index: null,
      properties: fields.properties ?? [],
    };
  }
}

function readActionId(id: unknown, attr: string): number {
  const actionId = idOf(id);
  if (actionId !== undefined) return actionId;
  throw invalid(`${attr}: the id of an action is a whole number. ${WHERE_ACTIONS_ARE}`, attr);
}

const isCountMath = (math: string): math is CountMath => COUNT_MATHS.some((known) => known === math);
const isPropertyMath = (math: string): math is PropertyMath => PROPERTY_MATHS.some((known) => known === math);

const noSuchMath = (math: string) => unsupported(`Counting by "${math.slice(0, 40)}" is not supported.`);

/** Throws InsightError for what no series counts by. */
export function checkMath(math: string): void {
  if (!isCountMath(math) && !isPropertyMath(math)) throw noSuchMath(math);
}

function toMeasure({
  math = 'total',
  math_property: key,
  math_property_type: type = '',
}: EntityFields): Measure {
  if (isCountMath(math)) return { math };
  if (!isPropertyMath(math)) throw noSuchMath(math);
  if (key === undefined) throw invalid(`Counting by ${math} needs a property: math_property is missing.`);
  if (type.startsWith('session') || key === '$session_duration') {
    throw unsupported('Properties of sessions are not supported: choose a property of events or persons.');
  }
  return { math, property: { owner: type.startsWith('person') ? 'person' : 'event', key } };
}
