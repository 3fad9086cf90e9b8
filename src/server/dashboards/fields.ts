import { z } from '@hono/zod-openapi';
import { RESTRICTION } from '../auth/levels.ts';
import { textField } from '../http/fields.ts';

/** Characters and counts. The contract limits only names; the other limits are far above normal use. */
const MAX_NAME = 400;
const MAX_DESCRIPTION = 10_000;

export const nameField = () => textField(MAX_NAME);

export const descriptionField = () => textField(MAX_DESCRIPTION);

/** Of restriction and of privilege: the same two numbers. */
const LEVELS = Object.values(RESTRICTION);

export const levelField = (description: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value),
      z.literal(LEVELS),
    )
    .openapi({ type: 'integer', enum: LEVELS, description });
