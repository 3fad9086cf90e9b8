import type { Fields } from '../../mapping/table.ts';
import { openJsonText } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';
import { type Change, changePath, type Reach } from './change-path.ts';

/** Where a rule finds its value: a column or path of the record, or of the object that a column is spread from. */
export interface ChangedPlace {
  readonly path: string;
  /** The column whose fields become properties themselves, and are named as columns are. */
  readonly spread?: string;
  /** That column may hold the text of its object or list. */
  readonly isText?: boolean;
}

type Spreading = Pick<DeclaredMapping, 'spreadColumns' | 'exclude' | 'jsonColumns' | 'unnest'>;

/**
 * The places of a path. A field of a spread column that some rule names by its whole path as well is left to that rule:
 * nothing is changed twice.
 */
export function listPlaces(
  path: string,
  { spreadColumns, exclude, jsonColumns, unnest }: Spreading,
  named: ReadonlySet<string>,
): ChangedPlace[] {
  const spreads = spreadColumns.filter(
    (spread) => !exclude.includes(spread) && !named.has(`${spread}.${path}`),
  );
  return [
    { path },
    ...spreads.map((spread) => ({
      path,
      spread,
      isText: jsonColumns.includes(spread) || unnest?.column === spread,
    })),
  ];
}

/** Whether the manifest says in any way that a column which is spread may hold text. */
export const isTextDeclared = (
  spread: string,
  { jsonColumns, unnest, types }: Pick<DeclaredMapping, 'jsonColumns' | 'unnest' | 'types'>,
): boolean => jsonColumns.includes(spread) || unnest?.column === spread || types?.[spread] === 'json';

/** The record with the value at a place changed; text of an object stays text where nothing in it is. */
export function changePlace(
  record: Fields,
  { path, spread, isText }: ChangedPlace,
  change: Change,
  reach: Reach = 'first',
): Fields {
  if (spread === undefined) return changePath(record, path, change, reach);
  return changePath(record, spread, (value) => {
    const fields = isText && typeof value === 'string' ? openJsonText(value) : value;
    let isFound = false;
    const note: Change = (found) => {
      isFound = true;
      return change(found);
    };
    const changed = changePath(fields as Fields, path, note, reach);
    return isFound ? changed : value;
  });
}
