import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { isDocument } from './keys/ordinal.ts';
import { recoveryHint } from './recovery-hint.ts';

/** Whole, and nothing that this version may take for lost and make again. */
class NewerDocumentError extends SourceError {}

/** The bytes of a stored document: JSON indented by one space, with a newline at its end. */
export const encodeDocument = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 1)}\n`);

/**
 * Reads what Backhaul itself wrote under `key`.
 *
 * @throws SourceError for anything else, which is damage worth stopping for, or from a newer version
 */
export function parseDocument<T>(schema: z.ZodType<T>, body: Buffer, key: string, staging: Staging): T {
  try {
    return schema.parse(JSON.parse(body.toString('utf8')));
  } catch (error) {
    const codes = error instanceof z.ZodError ? error.issues.map(({ code }) => code) : [];
    const what = error instanceof z.ZodError ? error.issues[0]?.message : undefined;
    const otherVersion = 'so use that one, or a later, in every producer and worker';
    if (codes.length > 0 && codes.every((code) => code === 'unrecognized_keys'))
      throw new NewerDocumentError(
        `${staging.location}: ${key} has what this version of Backhaul does not know (${what}): a newer version wrote it, ${otherVersion}; where none did, it is damaged: ${recoveryHint(key)}`,
        error,
      );
    // A value that is none of a list may be one that a newer version added, or a damaged one.
    if (codes.length > 0 && codes.every((code) => code === 'unrecognized_keys' || code === 'invalid_value'))
      throw new SourceError(
        `${staging.location}: ${key} is not what this version of Backhaul writes there (${what}): perhaps a newer version wrote it, ${otherVersion}; else ${recoveryHint(key)}`,
        error,
      );
    throw new SourceError(
      `${staging.location}: ${key} is not what Backhaul wrote there; ${recoveryHint(key)}`,
      error,
    );
  }
}

/** Undefined when there is no such document. */
export async function loadDocument<T>(
  schema: z.ZodType<T>,
  key: string,
  staging: Staging,
): Promise<T | undefined> {
  try {
    return await readDocument(schema, key, staging);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    // An answer that something on the way cut off is no damage: what is stored is read whole the next time.
    return readDocument(schema, key, staging);
  }
}

async function readDocument<T>(schema: z.ZodType<T>, key: string, staging: Staging): Promise<T | undefined> {
  const body = await staging.get(key);
  return body && parseDocument(schema, body, key, staging);
}

/** The same for what can be made again: undefined also when the document is damaged. */
export async function loadIfWhole<T>(
  schema: z.ZodType<T>,
  key: string,
  staging: Staging,
): Promise<T | undefined> {
  try {
    return await loadDocument(schema, key, staging);
  } catch (error) {
    if (error instanceof SourceError && !(error instanceof NewerDocumentError)) return undefined;
    throw error;
  }
}

/** Small objects that are read at once; on S3 each is a round trip. */
const READ_AHEAD = 16;

/** Every document below a prefix, in key order, as `load` reads it. */
export async function* listDocuments<T>(
  staging: Staging,
  prefix: string,
  load: (key: string) => Promise<T | undefined>,
): AsyncGenerator<T> {
  let keys: string[] = [];
  const loadAll = async () => {
    const found = await Promise.all(keys.map(load));
    keys = [];
    return found.filter((value) => value !== undefined);
  };
  for await (const { key } of staging.list(prefix)) {
    if (isDocument(key)) keys.push(key);
    if (keys.length === READ_AHEAD) yield* await loadAll();
  }
  yield* await loadAll();
}
