import { asFields, type Fields } from '../../mapping/table.ts';
import { parseJsonCell } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';
import { type Change, changePath } from './change-path.ts';
import { changePlace, isTextDeclared } from './changed-place.ts';
import { listTextsBefore } from './json-texts.ts';
import { listHashed } from './prepare-record.ts';
import { BAD, JSON_ABOVE } from './typed-value.ts';
import { createFindMissed } from './undeclared-text.ts';

const HASHED = '(hashed)';

/** Creates what takes personal data out of records that are shown: a plan is made to be sent to others. */
export function createHideHashed(mapping: DeclaredMapping): ((record: Fields) => Fields) | undefined {
  const { hash } = mapping;
  if (!hash) return undefined;
  const texts = listTextsBefore(mapping, true);
  const places = listHashed(mapping, hash.columns);
  const findMissed = createFindMissed(mapping, hash.columns);
  return (exported) => {
    const parsed = texts.reduce(
      (record, column) =>
        changePath(record, column, (value) => {
          const read = JSON_ABOVE.read(value);
          return read === BAD ? HASHED : read;
        }),
      exported,
    );
    const readable = mapping.spreadColumns.reduce(
      (record, column) => changePath(record, column, hideUnreadable(isTextDeclared(column, mapping))),
      parsed,
    );
    let hidden = readable;
    for (let missed = findMissed?.toHide(hidden); missed; missed = findMissed?.toHide(hidden))
      hidden = { ...hidden, [missed.column]: HASHED };
    return places.reduce((record, place) => changePlace(record, place, () => HASHED, 'all'), hidden);
  };
}

/** Where an object was expected, so it is unknown what would have been hashed in it. */
const hideUnreadable =
  (isText: boolean): Change =>
  (value) => {
    // Text in a list is read by nobody.
    if (Array.isArray(value)) return value.map(hideUnreadable(false));
    return typeof value !== 'string' || value === '' || (isText && holdsObjects(parseJsonCell(value)))
      ? value
      : HASHED;
  };

const holdsObjects = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(holdsObjects) : asFields(value) !== undefined;
