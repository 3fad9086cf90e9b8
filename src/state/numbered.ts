import type { Staging } from '../contract/staging.ts';
import { isOwnReport, layout, parseNumberedKey } from './keys/migration.ts';
import type { MigrationRecord } from './migrations.ts';

/*
 * Documents that are not replaced: states and the versions of a ledger are created under the next number, reports and
 * notes of progress under the epoch that writes them, and the newest is read. So a process that slept while another
 * one took the migration over changes nothing that anybody reads (I5). Reports and notes name their migration as well,
 * as another one may have the name by then.
 */

/** The highest number below a prefix; 0 where there is none. */
export async function findNewestNumber(staging: Staging, prefix: string): Promise<number> {
  let newest = 0;
  for await (const { key } of staging.list(prefix)) newest = Math.max(newest, parseNumberedKey(key) ?? 0);
  return newest;
}

/** The report or note of the highest epoch that is of this migration; without an id, of any. */
export async function findNewestOwn(
  staging: Staging,
  prefix: string,
  id: string | undefined,
): Promise<{ readonly number: number; readonly key: string } | undefined> {
  let newest: { number: number; key: string } | undefined;
  for await (const { key } of staging.list(prefix)) {
    const number = parseNumberedKey(key);
    if (number === undefined || number < (newest?.number ?? 0)) continue;
    if (id === undefined || isOwnReport(key, id)) newest = { number, key };
  }
  return newest;
}

/** Removes the reports and notes of epochs of a migration before this one, and those of version 0.1.0. */
export async function removeOfOlderEpochs(
  staging: Staging,
  { name, id }: Pick<MigrationRecord, 'name' | 'id'>,
  epoch: number,
): Promise<void> {
  const keys = layout(name);
  for (const prefix of [keys.reports, keys.progressNotes]) {
    for await (const { key } of staging.list(prefix))
      if ((parseNumberedKey(key) ?? epoch) < epoch && isOwnReport(key, id)) await staging.remove(key);
  }
  for (const key of [keys.oldReport, keys.oldProgress]) await staging.remove(key);
}
