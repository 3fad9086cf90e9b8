import { tooManyRejects } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { hasFacts } from '../persons/facts-of.ts';
import { loadPersons } from '../persons/load-persons.ts';
import { loadStoredManifest } from '../prepare.ts';
import { loadStoredReport } from '../report/report.ts';

/**
 * Whether a replay is of a migration that holds its persons, at whatever number of replays between: those of all are sent
 * together, as other rejects may forbid what this one would merge, and older values would come first.
 */
export async function isHeldWithOrigin(staging: Staging, replay: MigrationRecord): Promise<boolean> {
  let origin = await loadOrigin(staging, replay);
  for (; origin; origin = await loadOrigin(staging, origin))
    if (await holdsPersons(staging, origin.name)) return true;
  return false;
}

/** Undefined also where another migration has its name by now. */
async function loadOrigin(
  staging: Staging,
  { replays, replaysId }: MigrationRecord,
): Promise<MigrationRecord | undefined> {
  const origin = replays === undefined ? undefined : await loadMigration(staging, replays);
  return origin && (replaysId ?? origin.id) === origin.id ? origin : undefined;
}

/**
 * One that says nothing of persons notes nothing, such as where its map looked for ids in other columns. What it rejected
 * may forbid a merge all the same.
 */
async function holdsPersons(staging: Staging, name: string): Promise<boolean> {
  if ((await loadPersons(staging, name)).isHeld) return true;
  if (await hasFacts(staging, name)) return false;
  const { manifest } = await loadStoredManifest(staging, name);
  if (manifest.persons === 'hold') return true;
  const report = await loadStoredReport(staging, name);
  return report === undefined || tooManyRejects(manifest.rejects.failAbove, report.counts);
}
