import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Environment } from '../../../config/environment.ts';
import { knowsHashKey, readHashKey } from '../../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { encodeDocument, loadDocument } from '../../state/document.ts';
import { layout } from '../../state/keys/migration.ts';
import { identify, type MigrationRecord, type Named } from '../../state/migrations.ts';

/** Hashes of a plan are shown and thrown away. */
export const PLAN_HASH_KEY = 'a plan hashes with this key, and a run does not';

/** The key of this process, or of plans where it has none. */
export const readPlanHashKey = (manifest: Manifest, env: Environment): string | undefined =>
  knowsHashKey(manifest, env) ? readHashKey(manifest, env) : PLAN_HASH_KEY;

/**
 * The key for hashing the personal data of a migration. Throws ConfigError where this process has none, or another
 * than whoever began it: one person would become two.
 */
export async function openHashKey(
  staging: Staging,
  { name, id, replays, replaysId }: Pick<MigrationRecord, 'name' | 'id' | 'replays' | 'replaysId'>,
  manifest: Manifest,
  env: Environment,
): Promise<string | undefined> {
  const key = readHashKey(manifest, env);
  if (key === undefined) return undefined;
  const own = { name, id };
  const replayed = replaysId === undefined ? replays : replays && { name: replays, id: replaysId };
  for (const of of replayed === undefined ? [own] : [replayed, own]) {
    if (await isHashKeyOf(staging, of, key)) continue;
    throw new ConfigError(
      `source.mapping.hash.key is another key than the one that migration "${typeof of === 'string' ? of : of.name}" hashes personal data with, and would make other ids of the same persons: set the variable to the key that it was begun with, or give the manifest another name`,
    );
  }
  return key;
}

const hashKeyMark = z.strictObject({ fingerprint: z.string() });

/**
 * Whether personal data of a migration is hashed with this key, by whoever began: the first to ask decides. Another
 * key would make other ids of the same persons. Keeps a keyed fingerprint, and never the key (I10). A process of a removed
 * migration may leave it late, so that of another one of the name has another key in staging.
 */
async function isHashKeyOf(staging: Staging, of: Named, key: string): Promise<boolean> {
  const { name, id } = await identify(staging, of);
  const { hashKey } = layout(name);
  const fingerprint = createHmac('sha256', key).update('backhaul hash key').digest('hex').slice(0, 32);
  const known =
    (await loadDocument(hashKeyMark, hashKey(id), staging)) ??
    (await loadDocument(hashKeyMark, hashKey(), staging));
  if (known) return known.fingerprint === fingerprint;
  if (await staging.create(hashKey(id), encodeDocument({ fingerprint }))) return true;
  return isHashKeyOf(staging, of, key);
}
