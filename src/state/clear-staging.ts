import type { Staging } from '../contract/staging.ts';

/** Removes what was left below a prefix that belongs to no migration. */
export async function clearStaging(staging: Staging, prefix: string): Promise<void> {
  for await (const { key } of staging.list(prefix)) await staging.remove(key);
}
