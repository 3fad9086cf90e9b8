import type { Staging } from '../contract/staging.ts';
import { ConfigError } from '../lib/errors.ts';
import { listMigrations } from '../state/migrations.ts';

/** Says which migrations there are, as a name is most often mistyped, or another data folder's. */
export async function noSuchMigration(staging: Staging, name: string): Promise<ConfigError> {
  const names = await listMigrations(staging);
  const there = names.length > 0 ? `there are: ${names.join(', ')}` : 'there are none yet';
  return new ConfigError(
    `there is no migration "${name}" in ${staging.location}; ${there}. Check the name, BACKHAUL_DATA_DIR and BACKHAUL_STAGING`,
  );
}
