import type { Redis } from 'ioredis';
import type { PartMeta } from '../../contract/part.ts';
import { assertEpochInForce } from '../../state/checkpoints.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import { clearStaging, type MigrationRecord } from '../../state/migrations.ts';
import { isRemoved } from '../../state/part-store.ts';
import { type StageSliceInput, stageSlice } from './stage-slice.ts';

export interface StageOwnInput extends Omit<StageSliceInput, 'prefix' | 'onPart'> {
  readonly migration: Pick<MigrationRecord, 'name' | 'id' | 'partsById'>;
  readonly epoch: number;
  readonly redis: Redis;
  /** Called for each part once it exists, in order, while the epoch is in force. */
  readonly onPart: (part: PartMeta) => void;
}

/**
 * Stages a slice of a migration for one of its epochs. A process that slept while the migration was removed leaves
 * nothing: whoever removes it ends its epochs before it lists what there is, so what was written before is listed,
 * and whoever wrote later finds that out here. Throws FencedOutError for an epoch that is over.
 */
export async function stageOwn({ migration, epoch, redis, onPart, ...input }: StageOwnInput): Promise<void> {
  const { staging } = input;
  const prefix = toPartsPrefix(migration);
  const assertInForce = () => assertEpochInForce(redis, migration.id, epoch);
  await assertInForce();
  try {
    await stageSlice({
      ...input,
      prefix,
      async onPart(part) {
        await assertInForce();
        onPart(part);
      },
    });
    await assertInForce();
  } catch (error) {
    if (migration.partsById && (await isRemoved(staging, migration).catch(() => false)))
      await clearStaging(staging, prefix).catch(() => {});
    throw error;
  }
}
