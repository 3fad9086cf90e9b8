import type { Redis } from 'ioredis';
import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { SourceError } from '../src/lib/errors.ts';
import type { StagedSlice } from '../src/pipeline/stage/slice-groups.ts';
import { stageSlice } from '../src/pipeline/stage/stage-slice.ts';
import { assertEpochInForce } from '../src/state/checkpoints.ts';
import { layout } from '../src/state/keys.ts';
import type { Handler } from './worker.ts';

export interface StageFileDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migrationId: string;
  readonly files: readonly StagedSlice[];
  readonly onPart: (part: PartMeta) => void;
}

/** Job `stage-file`: a file or a group of small files on the producer's own disk becomes parts. Runs with the producer alone. */
export function stageFileHandler(deps: StageFileDeps): Handler<'stage-file'> {
  const { staging, redis, migrationId, files, onPart } = deps;
  const byId = new Map(files.map((file) => [file.fileId, file]));
  return async ({ migration, epoch, fileId, packing }, { signal, progress }) => {
    const assertInForce = () => assertEpochInForce(redis, migrationId, epoch);
    await assertInForce();
    const slice = byId.get(fileId);
    if (!slice) throw new SourceError(`file ${fileId} is not among the files of migration "${migration}"`);
    let records = 0;
    await stageSlice({
      slice,
      staging,
      prefix: layout(migration).prefix,
      packing,
      async onPart(part) {
        await assertInForce();
        onPart(part);
        records += part.records;
        progress({ records });
      },
      signal,
    });
    return { kind: 'done' };
  };
}
