import type { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { parseDocument } from '../../state/document.ts';
import { isDocument } from '../../state/keys.ts';

/** Every document of a folder that has one schema. */
export async function* listDocuments<T>(
  schema: z.ZodType<T>,
  staging: Staging,
  folder: string,
): AsyncGenerator<T> {
  for await (const { key } of staging.list(folder)) {
    const body = isDocument(key) ? await staging.get(key) : undefined;
    if (body) yield parseDocument(schema, body, key, staging);
  }
}
