import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { PartMeta } from '../contract/part.ts';
import { type Checkpoint, checkpoint as checkpointSchema } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { type Checkpoints, type Fence, listCheckpoints } from './checkpoints.ts';
import { encodeDocument } from './document.ts';
import { layout } from './keys/migration.ts';
import { parseCheckpointKey } from './keys/segments.ts';
import type { MigrationRecord } from './migrations.ts';

/** How much work may be done again when Redis lost its memory, besides the requests in flight. */
const STAGE_EVERY_MS = 5_000;

/**
 * A checkpoint in staging, with what it holds for: positions and counts of another cut of the source or of
 * another mapping say nothing about this part.
 */
const stagedCheckpoint = z.strictObject({
  migrationId: z.string(),
  mapping: z.string(),
  partSha256: z.string(),
  checkpoint: checkpointSchema,
});
type StagedCheckpoint = z.infer<typeof stagedCheckpoint>;

export interface StagedCheckpointsDeps {
  readonly staging: Staging;
  readonly record: Pick<MigrationRecord, 'id' | 'name' | 'mapping'>;
  readonly part: PartMeta;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number;
}

/**
 * The checkpoints of one part, which are copied to staging at most every 5 s, for the case that Redis loses
 * them. Redis stays the first choice and the judge: a checkpoint is copied only after Redis has accepted it
 * from the holder of the part, so a copy never is ahead of its rejects (I1) and never a zombie's invention.
 * Each holder has an object of its own, named by its fence; of several the highest fence below one's own is
 * taken, so that a copy which an older holder writes late, or a newer one has written already, is not
 * believed (I5).
 */
export function createStagedCheckpoints(redis: Checkpoints, deps: StagedCheckpointsDeps): Checkpoints {
  const { staging, record, part, nowMs } = deps;
  const keys = layout(record.name);
  let stagedAtMs = nowMs();
  /** Whether there may be copies to remove. */
  let isStaged = false;

  return {
    async begin(partId) {
      const begun = await redis.begin(partId);
      stagedAtMs = nowMs();
      const { fence } = begun;
      // The first holder of the first epoch: nobody can have left a copy, and a listing costs a round trip.
      if (fence.epoch === 1 && fence.counter === 1) return { fence, checkpoint: undefined };
      isStaged = true;
      // One of other bytes is left by a staging that was restored, cut again, or copied and used with this Redis.
      if (begun.checkpoint?.partSha256 === part.sha256) return begun;
      return { fence, checkpoint: await loadStaged(deps, fence) };
    },

    async save(fence, checkpoint) {
      await redis.save(fence, checkpoint);
      const now = nowMs();
      if (now - stagedAtMs < STAGE_EVERY_MS) return;
      const { id: migrationId, mapping } = record;
      const staged: StagedCheckpoint = { migrationId, mapping, partSha256: part.sha256, checkpoint };
      isStaged = true;
      await staging.put(keys.checkpoint(fence), encodeDocument(staged));
      stagedAtMs = now;
    },

    async forget(fence) {
      await redis.forget(fence);
      if (!isStaged) return;
      // Those of all holders: the part has its receipt.
      for await (const { key } of staging.list(keys.checkpointsOf(fence.part))) await staging.remove(key);
    },
  };
}

/** Copies to staging what Redis knows better: its checkpoints, of parts that no process holds any more. */
export async function stageCheckpoints(
  staging: Staging,
  redis: Redis,
  { id: migrationId, name, mapping }: StagedCheckpointsDeps['record'],
): Promise<void> {
  for await (const { fence, checkpoint } of listCheckpoints(redis, migrationId)) {
    const { partSha256 } = checkpoint;
    if (partSha256 === undefined) continue;
    const staged: StagedCheckpoint = { migrationId, mapping, partSha256, checkpoint };
    await staging.put(layout(name).checkpoint(fence), encodeDocument(staged));
  }
}

async function loadStaged(
  { staging, record, part }: StagedCheckpointsDeps,
  own: Fence,
): Promise<Checkpoint | undefined> {
  const found: { key: string; fence: Pick<Fence, 'epoch' | 'counter'> }[] = [];
  for await (const { key } of staging.list(layout(record.name).checkpointsOf(part.id))) {
    const fence = parseCheckpointKey(key);
    if (fence && compareFences(fence, own) < 0) found.push({ key, fence });
  }
  found.sort((a, b) => compareFences(b.fence, a.fence));
  for (const { key } of found) {
    const body = await staging.get(key);
    const staged = body && parseStaged(body);
    // Without one that can be believed the part starts over, which costs time alone.
    if (
      staged?.migrationId === record.id &&
      staged.mapping === record.mapping &&
      staged.partSha256 === part.sha256 &&
      staged.checkpoint.part === part.id
    ) {
      return staged.checkpoint;
    }
  }
  return undefined;
}

function parseStaged(body: Buffer): StagedCheckpoint | undefined {
  try {
    return stagedCheckpoint.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** The epoch outranks the counter, which starts again when Redis was wiped. */
const compareFences = (a: Pick<Fence, 'epoch' | 'counter'>, b: Pick<Fence, 'epoch' | 'counter'>): number =>
  a.epoch - b.epoch || a.counter - b.counter;
