import type { Staging } from '../../contract/staging.ts';

/**
 * Creates an object. True also where the very same one is there: S3 clients repeat a request whose answer was lost, and
 * find what the first one created.
 */
export const createSame = async (staging: Staging, key: string, body: Buffer): Promise<boolean> =>
  (await staging.create(key, body)) || ((await staging.get(key))?.equals(body) ?? false);
