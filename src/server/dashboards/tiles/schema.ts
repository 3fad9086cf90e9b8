import { z } from '@hono/zod-openapi';
import { booleanField, boundedObject, integerField, textField } from '../../http/fields.ts';
import { isJsonObject } from '../../http/json.ts';
import { tagsField } from '../../http/tags.ts';
import { descriptionField, nameField } from '../fields.ts';

/** Limit of tiles of a dashboard: viewing it computes every insight. */
export const MAX_TILES = 100;
/** Each takes statements of one transaction, which others wait for on the embedded database. */
const MAX_ITEMS = MAX_TILES;
const MAX_BODY = 4000;
const MAX_COLOR = 400;
const MAX_LAYOUTS = 10_000;
const MAX_FILTERS = 100_000;

const textItem = z.object({ id: integerField().nullable().optional(), body: textField(MAX_BODY) });

/** One that is there, by id, or a new one. */
const insightItem = z.object({
  id: integerField().nullable().optional(),
  name: nameField().nullable().optional(),
  description: descriptionField().nullable().optional(),
  filters: boundedObject(MAX_FILTERS).optional(),
  query: boundedObject(MAX_FILTERS).nullable().optional(),
  tags: tagsField().optional(),
});

const item = z.object({
  id: integerField().nullable().optional(),
  text: textItem.nullable().optional(),
  insight: insightItem.nullable().optional(),
  layouts: boundedObject(MAX_LAYOUTS).optional(),
  color: textField(MAX_COLOR).nullable().optional(),
  deleted: booleanField().optional(),
});

/**
 * Tiles in the body of a PATCH. Clients send whole tiles back, so the insight of an existing tile is
 * ignored.
 */
export const tileItems = z
  .array(
    z.preprocess(
      (value) => (isJsonObject(value) && value['id'] != null ? { ...value, insight: undefined } : value),
      item,
    ),
  )
  .max(MAX_ITEMS)
  .openapi({
    description:
      'With `id`: changes that tile, or takes it off (`deleted: true`). Without: `text: {body}` adds a text, `insight: {id}` puts an insight of the project on the dashboard, `insight: {name, description, filters | query}` a new one.',
  });

export type TileItem = z.infer<typeof item>;
export type InsightItem = z.infer<typeof insightItem>;
