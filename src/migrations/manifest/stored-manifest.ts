import { parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadLatestEpoch } from '../../state/epochs.ts';
import { requireMigration } from '../life-store.ts';

/** A manifest, and the folder its relative paths start from. */
export interface ManifestAt {
  readonly manifest: Manifest;
  readonly baseDir: string;
}

/** The manifest of the last epoch, for `resume` by name: edited limits need `run`. Throws RefusedError. */
export async function loadStoredManifest(staging: Staging, name: string): Promise<ManifestAt> {
  const opening = (await loadLatestEpoch(staging, name)) ?? (await requireMigration(staging, name)).opening;
  return { manifest: parseStoredManifest(opening.manifest, staging.location), baseDir: opening.baseDir };
}
