import { z } from '@hono/zod-openapi';
import { userSchema } from '../auth/users.ts';
import { booleanField, boundedObject, integerField } from '../http/fields.ts';
import { tagsField } from '../http/tags.ts';
import { descriptionField, levelField, nameField } from './fields.ts';
import { tileItems } from './tiles/schema.ts';

const MAX_FILTERS = 100_000;

/** The fields of a dashboard that the contract lets clients write. */
export const dashboardFields = z.object({
  name: nameField()
    .nullable()
    .openapi({ type: ['string', 'null'] })
    .optional(),
  description: descriptionField().optional(),
  pinned: booleanField().optional(),
  deleted: booleanField().optional(),
  use_template: nameField().optional(),
  use_dashboard: integerField()
    .nullable()
    .openapi({ type: ['integer', 'null'] })
    .optional(),
  delete_insights: booleanField().optional(),
  filters: boundedObject(MAX_FILTERS, 'Filters must be a dictionary').optional(),
  tags: tagsField().optional(),
  restriction_level: levelField(
    '21: everybody in the project may edit. 37: those invited, the creator and administrators.',
  ).optional(),
});

/** Zero and the empty text count as missing, as in the service. */
const oneOrigin = (body: { use_template?: string | undefined; use_dashboard?: number | null | undefined }) =>
  !(body.use_template && body.use_dashboard);
const TWO_ORIGINS = '`use_dashboard` and `use_template` cannot be used together';

export const createBody = dashboardFields
  .extend({
    duplicate_tiles: booleanField().optional().openapi({
      description:
        'With `use_dashboard`: tiles get copies of its insights and texts. Otherwise both dashboards show the same ones.',
    }),
  })
  .refine(oneOrigin, TWO_ORIGINS);

export const changeBody = dashboardFields
  .extend({ tiles: tileItems.optional() })
  .refine(oneOrigin, TWO_ORIGINS);

export type CreateBody = z.infer<typeof createBody>;
export type ChangeBody = z.infer<typeof changeBody>;

/** An item of the list. */
export const listedDashboardSchema = z
  .object({
    id: z.int(),
    name: z.string().nullable(),
    description: z.string(),
    pinned: z.boolean(),
    created_at: z.string(),
    created_by: userSchema.nullable(),
    is_shared: z.boolean(),
    deleted: z.boolean(),
    creation_mode: z.enum(['default', 'template', 'duplicate']),
    tags: z.array(z.string()),
    restriction_level: z.int(),
    effective_restriction_level: z.int(),
    effective_privilege_level: z.int().openapi({ description: '21: may look. 37: may edit.' }),
  })
  .openapi('ListedDashboard');

export const dashboardSchema = listedDashboardSchema
  .extend({
    use_template: z.string().openapi({ description: 'The template it was made from, or empty.' }),
    use_dashboard: z.int().nullable().openapi({ description: 'The dashboard it was made from.' }),
    delete_insights: z.boolean().openapi({ description: 'Whether this call asked for it.' }),
    filters: z.unknown(),
    tiles: z.array(z.record(z.string(), z.unknown())),
  })
  .openapi('Dashboard');

export type ListedDashboardBody = z.infer<typeof listedDashboardSchema>;
export type DashboardBody = z.infer<typeof dashboardSchema>;
