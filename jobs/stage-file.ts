import type { Redis } from 'ioredis';
import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { SourceError } from '../src/lib/errors.ts';
import type { StagedSlice } from '../src/pipeline/stage/slice-groups.ts';
import { stageOwn } from '../src/pipeline/stage/stage-own.ts';
import type { MigrationRecord } from '../src/state/migrations.ts';
import type { Handler } from './worker.ts';

export interface StageFileDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migration: Pick<MigrationRecord, 'name' | 'id' | 'partsById'>;
  readonly files: readonly StagedSlice[];
  readonly onPart: (part: PartMeta) => void;
}

/** Job `stage-file`: a file or a group of small files on the producer's own disk becomes parts. Runs with the producer alone. */
export function stageFileHandler(deps: StageFileDeps): Handler<'stage-file'> {
  const { staging, redis, migration, files, onPart } = deps;
  const byId = new Map(files.map((file) => [file.fileId, file]));
  return async ({ epoch, fileId, packing }, { signal, progress }) => {
    const slice = byId.get(fileId);
    if (!slice)
      throw new SourceError(`file ${fileId} is not among the files of migration "${migration.name}"`);
    let records = 0;
    await stageOwn({
      slice,
      ...{ staging, redis, migration, epoch, packing },
      onPart(part) {
        onPart(part);
        records += part.records;
        progress({ records });
      },
      signal,
    });
    return { kind: 'done' };
  };
}
