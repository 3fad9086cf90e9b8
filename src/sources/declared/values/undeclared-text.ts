import { asFields, type Fields } from '../../mapping/table.ts';
import { openJsonText } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';
import { isTextDeclared } from './changed-place.ts';

/** Text of JSON that nothing in the manifest says to read, and in which a rule that keeps personal data back misses some. */
export interface MissedText {
  /** The column that it is in. */
  readonly column: string;
  /** Where it is. */
  readonly path: string;
  /** Its name in `types`. */
  readonly typedAs: string;
}

export type FindMissed = (record: Fields) => MissedText | undefined;

/** Undefined where no path of a rule leads into a value. */
export function createFindMissed(
  mapping: DeclaredMapping,
  hashed: readonly string[],
): { readonly ofHash: FindMissed; readonly ofExclude: FindMissed; readonly toHide: FindMissed } | undefined {
  const { spreadColumns, exclude, jsonColumns, unnest } = mapping;
  const spreads = spreadColumns.filter((name) => !exclude.includes(name));
  const hashes = listNested(hashed, spreads, mapping);
  const excludes = listNested(exclude, spreads, mapping);
  if (excludes.length + hashes.length === 0) return undefined;
  const readInside = new Set([
    ...spreads.filter((spread) => isTextDeclared(spread, mapping)),
    ...(unnest ? [unnest.column] : []),
  ]);
  const ofFields = spreads.flatMap((spread) => exclude.map((path) => `${spread}.${path}`));
  const decideFate = createDecideFate(new Set([...exclude, ...ofFields]), spreads);
  const create =
    (paths: readonly NestedPath[], readLater: ReadonlySet<string>, looks: Search['looks']): FindMissed =>
    (record) => {
      const found = findText(record, paths, { readLater, decideFate, looks, readInside });
      if (!found) return undefined;
      const spread = spreads.find((name) => found.path.startsWith(`${name}.`));
      return { ...found, typedAs: spread ? found.path.slice(spread.length + 1) : found.path };
    };
  return {
    // Ids of events are made of what is left out, too.
    ofHash: create(hashes, NONE, 'in_columns'),
    ofExclude: create(excludes, new Set([...jsonColumns, ...(unnest ? [unnest.column] : [])]), 'where_sent'),
    // What is left out is shown all the same.
    toHide: create(hashes, NONE, 'everywhere'),
  };
}

/** A path in the record that a rule names. */
interface NestedPath {
  readonly path: string;
  /** The spread column that it is a field of, where its text is read as the field is changed. */
  readonly readAt?: string | undefined;
}

/**
 * The rules that lead into a value. A column itself that is spread and holds text that nobody reads makes its record a
 * reject anyway.
 */
const listNested = (
  rules: readonly string[],
  spreads: readonly string[],
  mapping: DeclaredMapping,
): NestedPath[] => [
  ...rules.filter(isNested).map((path) => ({ path })),
  ...spreads.flatMap((spread) =>
    rules
      .filter((path) => isNested(path) || isNested(spread))
      .map((path) => ({
        path: `${spread}.${path}`,
        readAt: isTextDeclared(spread, mapping) ? spread : undefined,
      })),
  ),
];

const isNested = (path: string): boolean => path.includes('.');
const openIfText = (value: unknown): unknown => (typeof value === 'string' ? openJsonText(value) : value);

const NONE: ReadonlySet<string> = new Set();

/**
 * What becomes of a field. Of something that is left out the fields of an object that is spread are sent, and no text or
 * list in the place of one of these objects.
 */
type Fate = 'kept' | 'left_out' | 'around_spread' | 'spread';

/** `parent`: what becomes of the field that it is in. */
type DecideFate = (path: string, parent: Fate) => Fate;

const createDecideFate =
  (excluded: ReadonlySet<string>, spreads: readonly string[]): DecideFate =>
  (path, parent) => {
    const isWithin = parent === 'left_out' || parent === 'around_spread';
    if (!isWithin && !excluded.has(path)) return 'kept';
    if (spreads.includes(path)) return 'spread';
    return spreads.some((spread) => spread.startsWith(`${path}.`)) ? 'around_spread' : 'left_out';
  };

interface Search {
  /** Columns whose text is read afterwards. */
  readonly readLater: ReadonlySet<string>;
  readonly decideFate: DecideFate;
  /** What is sent of something that is left out also where it is text, or a list whose items take its place. */
  readonly readInside: ReadonlySet<string>;
  /** In nothing that is left out, in no column that is, or in all there is. */
  readonly looks: 'where_sent' | 'in_columns' | 'everywhere';
}

/** Where one of the paths leads through text to a value. */
function findText(
  record: Fields,
  paths: readonly NestedPath[],
  search: Search,
): Pick<MissedText, 'column' | 'path'> | undefined {
  for (const { path, readAt } of paths)
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      const column = path.slice(0, dot);
      if (!Object.hasOwn(record, column)) continue;
      const fate = search.decideFate(column, 'kept');
      if (fate === 'left_out' && search.looks !== 'everywhere') continue;
      const value = search.readLater.has(column) ? openIfText(record[column]) : record[column];
      const text = findTextIn(
        value,
        path.slice(dot + 1),
        { at: column, fate, readAt, looks: toLooks(fate, search.looks) },
        search,
      );
      if (text !== undefined) return { column, path: text };
    }
  return undefined;
}

/** What text of an object or list begins with, and such text that was written as text again. */
const MAY_BE_JSON = /^\s*["[{]/;

/** Where a value is, and what becomes of it. */
interface Place {
  readonly at: string;
  readonly fate: Fate;
  readonly readAt: string | undefined;
  readonly looks: Search['looks'];
}

/** In a column that is left out, ids are made of whatever it holds. */
const toLooks = (fate: Fate, looks: Search['looks']): Search['looks'] =>
  fate !== 'kept' && looks === 'in_columns' ? 'where_sent' : looks;

function findTextIn(exported: unknown, path: string, place: Place, search: Search): string | undefined {
  const { at, fate, readAt, looks } = place;
  const isReadInside = search.readInside.has(at);
  const isText = at === readAt || (fate === 'spread' && isReadInside);
  const value = isText ? openIfText(exported) : exported;
  const isSent = fate === 'kept' || isReadInside || asFields(value) !== undefined;
  if (!isSent && looks === 'where_sent') return undefined;
  if (typeof value === 'string')
    return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path) ? at : undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = findTextIn(item, path, place, search);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const fields = asFields(value);
  if (!fields) return undefined;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(fields, name)) continue;
    const inner = `${at}.${name}`;
    const innerFate = search.decideFate(inner, fate);
    if (innerFate === 'left_out' && looks === 'where_sent') continue;
    const found = findTextIn(
      fields[name],
      path.slice(dot + 1),
      { at: inner, fate: innerFate, readAt, looks },
      search,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a path leads to a value, through text or not. */
function leadsTo(value: unknown, path: string): boolean {
  if (Array.isArray(value)) return value.some((item) => leadsTo(item, path));
  if (typeof value === 'string') return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path);
  const fields = asFields(value);
  if (!fields) return false;
  if (Object.hasOwn(fields, path)) return true;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(fields, name) && leadsTo(fields[name], path.slice(dot + 1))) return true;
  }
  return false;
}
