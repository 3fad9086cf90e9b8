import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import type { FilterGroup } from '../../query/filter.ts';
import type { Entity } from '../entity.ts';
import { FUNNEL_PARAMETERS } from '../funnel/actors.ts';
import { parseFunnel } from '../funnel/parse.ts';
import { invalid, naming } from '../insight-error.ts';
import { wholeRange } from '../intervals.ts';
import { type ActorList, type ActorQuestion, listActors } from '../lists/actor-list.ts';
import { readCommon } from '../parse/common.ts';
import { entityDocument, readEntity } from '../parse/entities.ts';
import { flag, given, oneOf, readFields, readFilter } from '../parse/fields.ts';
import { findCorrelated } from './store.ts';

/** Who went through a funnel, or was lost in it, and did or was something besides. */
export const correlationActors: ActorList = {
  path: 'funnel/correlation',
  methods: ['get', 'post'],
  summary: 'List the persons of a funnel who did something else on the way, or have a property',
  shows: 'actors',
  pageNames: { limit: 'funnel_correlation_person_limit', offset: 'funnel_correlation_person_offset' },
  parameters: {
    ...FUNNEL_PARAMETERS,
    funnel_correlation_type: '`events` (default), `event_with_properties` or `properties`.',
    funnel_correlation_person_entity:
      'JSON: `{id, type, properties}`: who did this after the first step, before the last or the end of the window. ' +
      'Required for events.',
    funnel_correlation_property_values: 'JSON: conditions on the person. Required for properties.',
    funnel_correlation_person_converted:
      'True: who reached the last step. False: who did not. Default: both.',
    funnel_correlation_person_limit: 'Results per page (default 100).',
    funnel_correlation_person_offset: 'Index of the first result (default 0).',
  },
  parse: parseCorrelationActors,
};

const TYPES = ['events', 'event_with_properties', 'properties'] as const;
const pointFields = z.object({
  funnel_correlation_type: oneOf(TYPES),
  funnel_correlation_person_entity: entityDocument,
  funnel_correlation_property_values: given(z.unknown()),
  funnel_correlation_person_converted: flag,
});

function parseCorrelationActors(filters: JsonObject): ActorQuestion {
  const fields = readFields(pointFields, filters);
  const query = { ...parseFunnel(filters, readCommon(filters)), breakdown: undefined };
  const converted = fields.funnel_correlation_person_converted;
  const common = { dates: query.dates, filter: query.filter, interval: 'day' } as const;
  const entities = [...query.steps, ...query.exclusions];
  if (fields.funnel_correlation_type === 'properties') {
    const property = readProperty(fields.funnel_correlation_property_values);
    return {
      ...common,
      entities: [...entities, { ...ANYTHING, filter: property }],
      find: async (_tx, steps, scope, range) =>
        listActors(await findCorrelated(steps, scope, wholeRange(range), { query, converted, property })),
    };
  }
  const document = fields.funnel_correlation_person_entity;
  if (document === undefined) {
    throw invalid('No entity for persons specified', 'funnel_correlation_person_entity');
  }
  const entity = naming('funnel_correlation_person_entity', () =>
    readEntity(document, 'funnel_correlation_person_entity'),
  );
  return {
    ...common,
    entities: [...entities, entity],
    find: async (_tx, steps, scope, range) =>
      listActors(await findCorrelated(steps, scope, wholeRange(range), { query, converted, entity })),
  };
}

const ANYTHING: Omit<Entity, 'filter'> = {
  event: null,
  name: 'the person',
  customName: null,
  order: 0,
  action: {},
};

function readProperty(given: unknown): FilterGroup {
  const filter = naming('funnel_correlation_property_values', () => readFilter(given, 'person'));
  if (filter.members.length > 0) return filter;
  throw invalid(
    'Property Correlation expects atleast one Property to get persons for',
    'funnel_correlation_property_values',
  );
}
