import { z } from 'zod';

/**
 * A dashboard to be made: the form in which the service's clients pass templates around
 * (`create_from_template_json`), and in which the ones at hand are kept (dashboard-templates.ts).
 */
const MAX_TILES = 100;
const MAX_NAME = 400;
/** Of any tags; the service bounds the length, and the number is far above what people write. */
export const MAX_TAG = 255;
export const MAX_TAGS = 100;

const object = z.record(z.string(), z.unknown());

const insightTile = z.object({
  type: z.literal('INSIGHT'),
  name: z.string().max(MAX_NAME),
  description: z.string().max(10_000).nullish(),
  color: z.string().max(400).nullish(),
  /** What the insight asks; says nothing beside `query`. */
  filters: object.nullish(),
  query: object.nullish(),
  layouts: object.nullish(),
});

const textTile = z.object({
  type: z.literal('TEXT'),
  body: z.string().max(4000),
  color: z.string().max(400).nullish(),
  layouts: object.nullish(),
});

/** Places to be filled by clients before they send the template. */
const variable = z.object({
  id: z.string(),
  name: z.string(),
  type: z.literal('event'),
  default: object,
  description: z.string(),
  required: z.boolean(),
});

export const dashboardTemplate = z.object({
  template_name: z.string().max(MAX_NAME),
  dashboard_description: z.string().max(10_000),
  dashboard_filters: object,
  /** Those of other types than these two are left out. */
  tiles: z.array(object).min(1).max(MAX_TILES),
  tags: z.array(z.string().max(MAX_TAG)).max(MAX_TAGS).nullish(),
  variables: z.array(variable).max(100).nullish(),
});

export const templateTile = z.discriminatedUnion('type', [insightTile, textTile]);

export type TemplateTile = z.infer<typeof templateTile>;
export type InsightTile = z.infer<typeof insightTile>;

export interface DashboardTemplate extends Omit<z.infer<typeof dashboardTemplate>, 'tiles'> {
  readonly tiles: readonly TemplateTile[];
}
