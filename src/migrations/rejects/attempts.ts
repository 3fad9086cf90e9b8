import { randomBytes } from 'node:crypto';
import type { FileReceipt } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import type { ReplayAttempt } from '../../pipeline/stage/stage-rejects.ts';
import { encodeDocument } from '../../state/document.ts';
import { layout, parseStagedSlice } from '../../state/keys/migration.ts';
import { partKeys } from '../../state/keys/parts.ts';
import { createIsOwnSlice, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { createSame } from '../../state/staging/create-same.ts';
import { createDerivedName } from '../derived-name.ts';

/*
 * Two processes may try to create a replay of one name, and the record of the first that is done names the slices that
 * it staged. The other may be frozen at any point meanwhile and wake much later, so nothing that it writes or removes may
 * be a key of the replay: all of its keys carry its token, and it removes no others. Once the record exists no other
 * attempt can become the replay, and what they left may be removed.
 */

export const createAttempt = (replay: string): ReplayAttempt => ({
  replay,
  token: randomBytes(6).toString('hex'),
});

/** Removes what an attempt has staged that did not become the replay. */
export const clearAttempt = (staging: Staging, { replay, token }: ReplayAttempt): Promise<void> =>
  removeSlices(staging, replay, (slice) => slice.endsWith(`-${token}`));

/** Removes what other attempts have staged, once the replay has its record. */
export function clearOtherAttempts(staging: Staging, record: MigrationRecord): Promise<void> {
  const isOwn = createIsOwnSlice(record);
  return removeSlices(staging, record.name, (slice) => !isOwn(slice));
}

/**
 * Removes what attempts have staged that ended before they had a record, as its migration is removed. An attempt that is
 * under way fails; one that has staged everything is left alone, as its record may be next.
 */
export async function giveUpAttempts(staging: Staging, name: string): Promise<void> {
  for (let number = 1; ; number += 1) {
    const replay = createDerivedName(name, 'replay', number);
    if (await loadMigration(staging, replay)) continue;
    const slices = await listStagedSlices(staging, replay);
    if (slices.size === 0) return;
    const givenUp = new Set<string>();
    for (const slice of slices) if (await giveUp(staging, replay, slice)) givenUp.add(slice);
    const { receipt } = partKeys(layout(replay).prefix);
    await removeSlices(staging, replay, (slice, key) => givenUp.has(slice) && key !== receipt(slice, 1));
  }
}

/** Creates the receipt that an attempt needs before it may create its record; false where it has it. */
async function giveUp(staging: Staging, replay: string, slice: string): Promise<boolean> {
  const receipt: FileReceipt = {
    fileId: slice,
    file: 'given up',
    fingerprint: { bytes: 0, modified: '', sha256: '' },
    parts: 0,
    records: 0,
  };
  const key = partKeys(layout(replay).prefix).receipt(slice, 1);
  const body = encodeDocument(receipt);
  return createSame(staging, key, body);
}

async function listStagedSlices(staging: Staging, replay: string): Promise<Set<string>> {
  const slices = new Set<string>();
  for await (const { key } of staging.list(layout(replay).prefix)) {
    const slice = parseStagedSlice(replay, key);
    if (slice !== undefined) slices.add(slice);
  }
  return slices;
}

async function removeSlices(
  staging: Staging,
  replay: string,
  isRemoved: (slice: string, key: string) => boolean,
): Promise<void> {
  for await (const { key } of staging.list(layout(replay).prefix)) {
    const slice = parseStagedSlice(replay, key);
    if (slice !== undefined && isRemoved(slice, key)) await staging.remove(key);
  }
}
