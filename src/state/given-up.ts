import { z } from 'zod';
import { type FingerprintIndex, fingerprintIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { encodeDocument, listDocuments, loadDocument } from './document.ts';
import { type EncodedFingerprints, saveFingerprints } from './fingerprints.ts';
import { layout } from './keys/migration.ts';
import { recoveryHint } from './recovery-hint.ts';

/*
 * What parts may have sent that have no receipt, and never get one: their migration was removed. It stays beside the
 * fingerprints of those that have one, and goes with them.
 */

const givenUp = z.strictObject({ part: z.string(), fingerprints: fingerprintIndex });

/** May be called again. */
export async function saveGivenUp(
  staging: Staging,
  name: string,
  part: string,
  encoded: EncodedFingerprints,
): Promise<void> {
  const keys = layout(name);
  const fingerprints = await saveFingerprints(staging, keys.givenUpBody(part), encoded);
  await staging.put(keys.givenUp(part), encodeDocument({ part, fingerprints }));
}

/** Throws SourceError for one that is damaged. */
export function listGivenUp(staging: Staging, name: string): AsyncGenerator<FingerprintIndex> {
  const keys = layout(name);
  return listDocuments(staging, keys.allFingerprints, async (key) => {
    const found = await loadDocument(givenUp, key, staging);
    if (!found || keys.givenUp(found.part) === key) return found?.fingerprints;
    throw new SourceError(`${staging.location}: ${key} is of part ${found.part}; ${recoveryHint(key)}`);
  });
}
