import type { Fields } from '../../mapping/table.ts';
import { parseJsonCell } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';
import { changePath } from './change-path.ts';
import { listTextsAbove } from './prepare-record.ts';

const HASHED = '(hashed)';

/** Creates what takes personal data out of records that are shown: a plan is made to be sent to others. */
export function createHideHashed(mapping: DeclaredMapping): ((record: Fields) => Fields) | undefined {
  const { hash } = mapping;
  if (!hash) return undefined;
  const texts = listTextsAbove(mapping, hash.columns);
  return (exported) => {
    const parsed = texts.reduce(
      (record, column) =>
        changePath(record, column, (value) => {
          const read = typeof value === 'string' ? parseJsonCell(value) : value;
          return typeof read === 'symbol' ? HASHED : read;
        }),
      exported,
    );
    return hash.columns.reduce((record, path) => changePath(record, path, () => HASHED), parsed);
  };
}
