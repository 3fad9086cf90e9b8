import { z } from '@hono/zod-openapi';
import { formQuery } from '../http/content-negotiation.ts';
import { pageQuery } from '../http/paging.ts';
import type { ActorList } from '../insights/lists/actor-list.ts';
import { samplingSchema } from '../insights/sampling.ts';

export const actorSchema = z
  .object({
    type: z.literal('person'),
    id: z.int().nullable().openapi({ description: 'Null: there is no person, or none any more.' }),
    uuid: z.uuid().nullable(),
    name: z.string(),
    distinct_ids: z.array(z.string()),
    properties: z.record(z.string(), z.unknown()),
    created_at: z.string().nullable(),
    is_identified: z.boolean(),
    matched_recordings: z.array(z.unknown()).openapi({ description: 'Always empty.' }),
    value_at_data_point: z.number().nullable(),
  })
  .openapi('Actor');

export type ActorBody = z.infer<typeof actorSchema>;

const pageFields = {
  next: z.string().nullable(),
  initial: z.string(),
  missing_persons: z.int().openapi({ description: 'Always 0: the list holds everybody who is counted.' }),
  sampling: samplingSchema.optional(),
  is_cached: z.boolean(),
  last_refresh: z.string(),
  total_count: z
    .int()
    .openapi({ description: 'Of all pages; without a search the number that the insight shows.' }),
};

export const actorsSchema = z
  .object({ results: z.array(z.object({ people: z.array(actorSchema), count: z.int() })), ...pageFields })
  .openapi('Actors');

export const retainedSchema = z
  .object({
    result: z.array(
      z.object({
        person: actorSchema,
        appearances: z.array(z.int()).openapi({ description: '1 or 0 for each period from the first.' }),
      }),
    ),
    ...pageFields,
  })
  .openapi('RetainedActors');

/** As in the filters of an insight, which clients send along as they are. */
export const INSIGHT_PARAMETERS = {
  events: 'JSON: a list of `{id, name, order, math, math_property, properties}`; `id: null` is every event.',
  actions: 'JSON: a list of the same, whose `id` is the one of an action.',
  properties: 'JSON: conditions on all events, as of the list of persons.',
  date_from: 'ISO 8601 in the zone of the project, relative (`-7d`, `mStart`) or `all`. Default `-7d`.',
  date_to: 'The same; the default is now. Whole days, unless it has an hour.',
  explicit_date: 'True: dates are moments, and nothing is rounded.',
  interval: '`hour`, `day` (default), `week` or `month`.',
  filter_test_accounts: 'Without effect.',
  sampling_factor: 'Above 0, up to 1. All events are counted whatever it is, which `sampling` says.',
  include_recordings: 'Without effect.',
  aggregation_group_type_index: 'Refused.',
} as const;

export const asQuery = (parameters: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, description]) => [
      name,
      z.string().optional().openapi({ description }),
    ]),
  );

export const asBody = (parameters: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, description]) => [
      name,
      z.unknown().optional().openapi({ description }),
    ]),
  );

const searchQuery = z.object({
  search: z.string().optional().openapi({ description: 'Part of an e-mail address, a name or an id.' }),
});

export const actorsQuery = ({ parameters }: ActorList) =>
  formQuery
    .extend(pageQuery.shape)
    .extend(searchQuery.shape)
    .extend(asQuery({ ...INSIGHT_PARAMETERS, ...parameters }));

/** Fields of the body go before those of the query. */
export const actorsBody = ({ parameters }: ActorList) =>
  z.object(
    asBody({
      limit: 'As in the query.',
      offset: 'As in the query.',
      search: 'As in the query.',
      ...INSIGHT_PARAMETERS,
      ...parameters,
    }),
  );
