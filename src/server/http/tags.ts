import { z } from '@hono/zod-openapi';
import { MAX_TAG, MAX_TAGS } from '../../../config/dashboards/dashboard-template.ts';
import { textField } from './fields.ts';

/** Tags of dashboards, insights and definitions, as clients write them. */
export const tagsField = () => z.array(textField(MAX_TAG)).max(MAX_TAGS);

/** Tags as they are kept: without space around them, in lower case, each once, none empty. */
export function normaliseTags(tags: readonly string[]): string[] {
  const normal = tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== '');
  return [...new Set(normal)];
}
