import type { Staging } from '../contract/staging.ts';
import { layout, parseNumberedKey } from './keys.ts';

/*
 * Documents that are not replaced: states and the versions of a ledger are created under the next number, reports and
 * notes of progress under the epoch that writes them, and the newest is read. So a process that slept while another
 * one took the migration over changes nothing that anybody reads (I5).
 */

/** The highest number below a prefix; 0 where there is none. */
export async function findNewestNumber(staging: Staging, prefix: string): Promise<number> {
  let newest = 0;
  for await (const { key } of staging.list(prefix)) newest = Math.max(newest, parseNumberedKey(key) ?? 0);
  return newest;
}

/** Removes the reports and notes of epochs before this one, and those of version 0.1.0. */
export async function removeOfOlderEpochs(staging: Staging, name: string, epoch: number): Promise<void> {
  const keys = layout(name);
  for (const prefix of [keys.reports, keys.progressNotes]) {
    for await (const { key } of staging.list(prefix))
      if ((parseNumberedKey(key) ?? epoch) < epoch) await staging.remove(key);
  }
  for (const key of [keys.oldReport, keys.oldProgress]) await staging.remove(key);
}
