import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { SourceError } from '../src/lib/errors.ts';
import { stageFile } from '../src/pipeline/stage/stage-file.ts';
import type { SourceFile } from '../src/sources/files/source-file.ts';
import type { ReadOptions } from '../src/sources/formats/read-records.ts';
import { layout } from '../src/state/keys.ts';
import type { Handler } from './worker.ts';

export interface StageFileDeps {
  readonly staging: Staging;
  readonly files: readonly SourceFile[];
  readonly read: ReadOptions;
  readonly onPart: (part: PartMeta) => void;
}

/** Job `stage-file`: one source file becomes parts. Runs where the file lies, with its producer. */
export function stageFileHandler({ staging, files, read, onPart }: StageFileDeps): Handler<'stage-file'> {
  const byId = new Map(files.map((file) => [file.fileId, file]));
  return async ({ migration, fileId }, { signal }) => {
    const file = byId.get(fileId);
    if (!file) throw new SourceError(`file ${fileId} is not among the files of migration "${migration}"`);
    await stageFile({ file, staging, prefix: layout(migration).prefix, read, onPart, signal });
    return { kind: 'done' };
  };
}
