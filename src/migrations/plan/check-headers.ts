import { ConfigError, getMessage, SourceError } from '../../lib/errors.ts';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { type ReadOptions, readRecords } from '../../sources/formats/read-records.ts';
import { chooseFiles } from './build-plan.ts';

const FILES_LOOKED_AT = 20;
const FILES_NAMED = 5;

/**
 * Throws one ConfigError that names the files whose header lacks a column that the manifest declares,
 * before a migration is bound to that manifest. Of many files some are looked at; staging looks at all.
 */
export async function checkHeaders(files: readonly SourceFile[], read: ReadOptions): Promise<void> {
  const { checkColumns } = read;
  if (!checkColumns) return;
  const faults: string[] = [];
  for (const file of chooseFiles(files, FILES_LOOKED_AT)) {
    let lacks = false;
    const watching = (names: readonly string[]) => {
      const lacking = checkColumns(names);
      lacks = lacking !== undefined;
      return lacking;
    };
    try {
      for await (const _ of readRecords(file, { ...read, checkColumns: watching })) break;
    } catch (error) {
      // Whatever else is wrong with a file is a fact of the plan and of the run, not of the manifest.
      if (!(error instanceof SourceError)) throw error;
      if (lacks) faults.push(getMessage(error));
    }
  }
  if (faults.length === 0) return;
  const more = faults.length > FILES_NAMED ? [`and ${faults.length - FILES_NAMED} files more`] : [];
  throw new ConfigError([...faults.slice(0, FILES_NAMED), ...more].join('\n'));
}
