import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where the parts of a migration lie in a folder of staging, below the id that it was given. */
export function findPartsFolder(migration: string): string {
  const [id = ''] = readdirSync(join(migration, 'staged'));
  return join(migration, 'staged', id, 'parts');
}
