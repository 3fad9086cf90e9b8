import { tooManyRejects } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { loadStoredManifest } from '../manifest/stored-manifest.ts';
import { hasFacts } from '../persons/facts-of.ts';
import { loadPersons } from '../persons/load-persons.ts';
import { loadStoredReport } from '../report/report.ts';
import { listAncestors } from './family.ts';

/**
 * Whether a replay is of a migration that holds its persons, at whatever number of replays between: those of all are sent
 * together, as other rejects may forbid what this one would merge, and older values would come first.
 */
export async function isHeldWithOrigin(staging: Staging, replay: MigrationRecord): Promise<boolean> {
  for await (const { name } of listAncestors(staging, replay))
    if (await holdsPersons(staging, name)) return true;
  return false;
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
