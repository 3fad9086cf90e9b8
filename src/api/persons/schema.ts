import { z } from '@hono/zod-openapi';
import { pageQuery } from '../paging.ts';

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

export const personQuery = pageQuery.extend({
  distinct_id: z.string().optional().openapi({ description: 'Exact match on any id of the person.' }),
  email: z.string().optional().openapi({ description: 'Exact match on the property `email`.' }),
  search: z
    .string()
    .optional()
    .openapi({ description: 'Part of the e-mail address in any case, or a whole distinct id or uuid.' }),
});
