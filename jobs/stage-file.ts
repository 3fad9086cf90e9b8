import type { PartMeta } from '../src/contract/part.ts';
import type { Staging } from '../src/contract/staging.ts';
import { SourceError } from '../src/errors.ts';
import { layout } from '../src/migration/layout.ts';
import type { ReadOptions } from '../src/read/read-records.ts';
import type { SourceFile } from '../src/source/source-file.ts';
import { stageFile } from '../src/stage/stage-file.ts';
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
