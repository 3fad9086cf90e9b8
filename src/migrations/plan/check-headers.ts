import { ConfigError, SourceError } from '../../lib/errors.ts';
import { MissingColumnsError } from '../../sources/formats/split-csv.ts';
import { bindSource, type SourceTypes } from '../../sources/registry.ts';
import type { SourceBlock, SourceSlice } from '../../sources/source.ts';
import { chooseFiles } from './build-plan.ts';

const FILES_CHECKED = 20;
const FILES_NAMED = 5;

/**
 * Throws one ConfigError that names the files whose header lacks a column that the manifest declares,
 * before a migration is bound to that manifest. Of many files some are checked; staging checks all.
 */
export async function checkHeaders(
  files: readonly SourceSlice[],
  block: SourceBlock,
  types?: SourceTypes,
): Promise<void> {
  if (!bindSource(block, types).checksHeaders) return;
  const faults: string[] = [];
  for (const file of chooseFiles(files, FILES_CHECKED)) {
    try {
      for await (const _ of file.readRecords()) break;
    } catch (error) {
      // Any other fault of a file is reported by the plan and by the run: the manifest may still be right.
      if (!(error instanceof SourceError)) throw error;
      if (error instanceof MissingColumnsError) faults.push(error.message);
    }
  }
  if (faults.length === 0) return;
  const more = faults.length > FILES_NAMED ? [`and ${faults.length - FILES_NAMED} files more`] : [];
  throw new ConfigError([...faults.slice(0, FILES_NAMED), ...more].join('\n'));
}
