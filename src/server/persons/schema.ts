import { z } from '@hono/zod-openapi';
import { formQuery } from '../http/content-negotiation.ts';
import { booleanField, integerField, objectField, textField } from '../http/fields.ts';
import { numberedPageQuery, pageQuery } from '../http/paging.ts';

export const personSchema = z
  .object({
    id: z.number().int(),
    name: z.string(),
    distinct_ids: z.array(z.string()),
    properties: z.record(z.string(), z.unknown()),
    created_at: z.string(),
    uuid: z.uuid(),
  })
  .openapi('Person');

export type PersonBody = z.infer<typeof personSchema>;

/** What a person is after a change; older clients look for `success` alone. */
export const changedPersonSchema = personSchema.extend({ success: z.literal(true) }).openapi('ChangedPerson');

export const personsQuery = pageQuery.extend(formQuery.shape).extend({
  distinct_id: z.string().optional().openapi({ description: 'Exact match on any id of the person.' }),
  email: z.string().optional().openapi({ description: 'Exact match on the property `email`.' }),
  search: z
    .string()
    .optional()
    .openapi({ description: 'Part of the e-mail address in any case, or a whole distinct id or uuid.' }),
  properties: z
    .string()
    .optional()
    .openapi({
      description:
        'JSON: a list of `{key, value, operator, type}`, all of which hold, or a group `{type: "AND" | "OR", ' +
        'values: […]}`. Given several times, each of them holds.',
      example: '[{"key":"plan","value":["pro"],"operator":"exact","type":"person"}]',
    }),
  cohort: z
    .preprocess((text) => (text === '' ? undefined : text), integerField().optional())
    .openapi({ type: 'integer', description: 'Id of a cohort: its members.' }),
  updated_after: z.string().optional().openapi({
    description: 'ISO 8601, without offset in UTC: persons whose properties changed here later.',
  }),
});

export const deleteQuery = formQuery.extend({
  delete_events: booleanField()
    .optional()
    .openapi({ description: 'True: their events go too, when the deletions run.' }),
});

export const valuesQuery = formQuery.extend({
  key: z.string().optional().openapi({ description: 'The property; without it there are no values.' }),
  value: z.string().optional().openapi({ description: 'Part of the value, in any case.' }),
});

export const propertiesBody = z.object({ properties: objectField() });

/** Clients that follow the contract to the letter send this along, and nothing is made of it. */
const ignoredProperties = z.unknown().optional().openapi({ description: 'Not looked at.' });

/** No event can carry a longer one, and that is refused where the event is made. */
const MAX_KEY_LENGTH = 1_000_000;
const keyField = () => textField(MAX_KEY_LENGTH);

export const updatePropertyQuery = formQuery.extend({
  key: z.string().optional().openapi({ description: 'The property, where the body does not name it.' }),
  value: z.string().optional().openapi({
    description:
      'Its value, where the body has none: JSON, or else text as it stands. `5` is a number, `"5"` and `005` are texts.',
  }),
});
export const updatePropertyBody = z.object({
  key: keyField().optional(),
  value: z.unknown().optional().openapi({ description: 'Any JSON value but null.' }),
  properties: ignoredProperties,
});
/** Query and body taken together. */
export const propertyUpdate = z.object({
  key: z.string().min(1),
  value: z.custom<unknown>((value) => value !== undefined && value !== null),
});

export const deletePropertyQuery = formQuery.extend({
  $unset: z.string().optional().openapi({ description: 'The property, where the body does not name it.' }),
});
export const deletePropertyBody = z.object({ $unset: keyField().optional(), properties: ignoredProperties });
/** Query and body taken together. */
export const propertyDeletion = z.object({ $unset: z.string().min(1) });

export const splitBody = z.object({
  main_distinct_id: textField(400)
    .nullish()
    .openapi({ description: 'The id that stays. Left out: the first one, and the properties go.' }),
  properties: ignoredProperties,
});

export const activityQuery = numberedPageQuery.extend(formQuery.shape);
