import { z } from '@hono/zod-openapi';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { userSchema } from '../auth/users.ts';
import { booleanField, textField } from '../http/fields.ts';
import { tagsField } from '../http/tags.ts';

const stepSchema = z.object({
  event: z.string().nullable().openapi({ description: 'Null: whatever its name.' }),
  url: z.string().nullable(),
  url_matching: z.enum(['contains', 'regex', 'exact']),
  properties: z.array(z.unknown()),
  selector: z.null(),
  tag_name: z.null(),
  text: z.null(),
  text_matching: z.null(),
  href: z.null(),
  href_matching: z.null(),
});

export const actionSchema = z
  .object({
    id: z.int(),
    name: z.string().nullable(),
    description: z.string(),
    tags: z.array(z.string()),
    steps: z.array(stepSchema),
    created_at: z.string(),
    created_by: userSchema.nullable(),
    deleted: z.boolean(),
    is_calculating: z.boolean(),
    last_calculated_at: z.string(),
    team_id: z.int(),
    is_action: z.literal(true),
    post_to_slack: z.literal(false),
    slack_message_format: z.literal(''),
  })
  .openapi('Action');

export type ActionBody = z.infer<typeof actionSchema>;

/** The service's own limit of names. */
const MAX_NAME_LENGTH = 400;
const MAX_DESCRIPTION_LENGTH = 10_000;
/** Of the steps as JSON. */
const MAX_STEPS_LENGTH = 100_000;

const stepsField = z
  .custom<readonly unknown[]>(Array.isArray, 'Expected a list of steps.')
  .refine(
    (steps) => stringifyJson(steps).length <= MAX_STEPS_LENGTH,
    `Ensure this field has no more than ${MAX_STEPS_LENGTH} characters.`,
  )
  .openapi({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description:
      'An event is one of the action where it fits a step: its name (`event`), `$current_url` (`url` with ' +
      '`url_matching`: `contains`, `regex` or `exact`), and `properties`, conditions as of insights.',
  });

const writable = {
  name: textField(MAX_NAME_LENGTH).nullable().optional(),
  description: textField(MAX_DESCRIPTION_LENGTH).optional(),
  tags: tagsField().optional(),
};

export const newActionSchema = z.object({ ...writable, steps: stepsField });
export type NewActionBody = z.infer<typeof newActionSchema>;

export const changedActionSchema = z.object({
  ...writable,
  steps: stepsField.optional(),
  deleted: booleanField().optional(),
});
export type ChangedActionBody = z.infer<typeof changedActionSchema>;
