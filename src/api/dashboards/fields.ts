import { z } from '@hono/zod-openapi';
import { objectField, textField } from '../fields.ts';
import { stringifyJson } from '../json.ts';

/** Characters and counts. The contract bounds names alone; the others are far above what people write. */
const MAX_NAME = 400;
const MAX_DESCRIPTION = 10_000;

export const nameField = () => textField(MAX_NAME);

export const descriptionField = () => textField(MAX_DESCRIPTION);

/** An object of at most `max` characters as JSON. */
export const boundedObject = (max: number, message?: string) =>
  objectField(message).refine(
    (value) => stringifyJson(value).length <= max,
    `Ensure this field has no more than ${max} characters.`,
  );

/** Levels of restriction and of privilege are the same two numbers. */
export const levelField = (description: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value),
      z.literal([21, 37]),
    )
    .openapi({ type: 'integer', enum: [21, 37], description });
