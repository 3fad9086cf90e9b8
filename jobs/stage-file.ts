import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { SourceError } from '../src/lib/errors.ts';
import type { StagedSlice } from '../src/pipeline/stage/slice-groups.ts';
import { stageSlice } from '../src/pipeline/stage/stage-slice.ts';
import { layout } from '../src/state/keys.ts';
import type { Handler } from './worker.ts';

export interface StageFileDeps {
  readonly staging: Staging;
  readonly files: readonly StagedSlice[];
  readonly onPart: (part: PartMeta) => void;
}

/** Job `stage-file`: a file or a group of small files on the producer's own disk becomes parts. Runs with the producer alone. */
export function stageFileHandler({ staging, files, onPart }: StageFileDeps): Handler<'stage-file'> {
  const byId = new Map(files.map((file) => [file.fileId, file]));
  return async ({ migration, fileId, packing }, { signal }) => {
    const slice = byId.get(fileId);
    if (!slice) throw new SourceError(`file ${fileId} is not among the files of migration "${migration}"`);
    await stageSlice({ slice, staging, prefix: layout(migration).prefix, packing, onPart, signal });
    return { kind: 'done' };
  };
}
