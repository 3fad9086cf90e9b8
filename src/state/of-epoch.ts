import type { Staging } from '../contract/staging.ts';
import { layout, parseNumberedKey } from './keys.ts';

/*
 * Reports and notes of progress: each epoch writes its own, and the newest is read. So a producer that slept while
 * another one took the migration over changes nothing that anybody reads (I5).
 */

/** The number of the newest epoch below a prefix; 0 where there is none. */
export async function findNewestOf(staging: Staging, prefix: string): Promise<number> {
  let newest = 0;
  for await (const { key } of staging.list(prefix)) newest = Math.max(newest, parseNumberedKey(key) ?? 0);
  return newest;
}

/** Removes what epochs before this one, and version 0.1.0, left. */
export async function removeOfOlderEpochs(staging: Staging, name: string, epoch: number): Promise<void> {
  const keys = layout(name);
  for (const prefix of [keys.reports, keys.progressNotes]) {
    for await (const { key } of staging.list(prefix))
      if ((parseNumberedKey(key) ?? epoch) < epoch) await staging.remove(key);
  }
  for (const key of [keys.oldReport, keys.oldProgress]) await staging.remove(key);
}
